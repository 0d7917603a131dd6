package dev.holdfast.ladder.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.ladder.VisitorProcess;
import dev.holdfast.testbed.TcpProxy;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each fault breaks one rung in Redis, and the next one stands: up to the lease. {@link RedisWatchdogTest} goes on. */
class RedisLadderTest extends OnRedis {
    private static final String FOR_EVER = "-1";

    // ---- the work throws

    @Test
    void workThatThrowsLeavesTheKeyForEver() {
        workThrowsUnder(SetNx::new);

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNx::new), LOCK)).isFalse();
    }

    @Test
    @Tag("thorough")
    void finallyTakesItAway() {
        workThrowsUnder(SetNxFinally::new);

        assertThat(Visitor.canEnter(on(SetNxFinally::new), LOCK)).isTrue();
    }

    private void workThrowsUnder(Function<String, Rung> rung) {
        Visitor first = Visitor.comes(on(rung), LOCK);
        first.awaitInside();
        first.fails();
    }

    // ---- the process is killed

    @Test
    @Tag("thorough")
    void aKilledProcessLeavesTheKeyForEver() {
        killedInside(SetNxFinally.class, () -> {});

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNxFinally::new), LOCK)).isFalse();
    }

    @Test
    @Tag("thorough")
    void aLeaseEndsTheKey() {
        Rung next = on(SetNxExpire::new);
        killedInside(
                SetNxExpire.class,
                () -> assertThat(Visitor.canEnter(next, LOCK)).isFalse());

        awaitEntry(next);
    }

    private static void killedInside(Class<? extends Rung> rung, Runnable then) {
        try (VisitorProcess first = VisitorProcess.start(rung, server.uri(), LOCK)) {
            first.enters().awaitInside().kill();
            then.run();
        }
    }

    // ---- the process is killed between two commands

    @Test
    @Tag("thorough")
    void aProcessKilledBetweenSetNxAndExpireLeavesTheKeyForEver() {
        killedAfterItsFirstCommand(SetNxExpire.class);

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNxExpire::new), LOCK)).isFalse();
    }

    @Test
    @Tag("thorough")
    void oneCommandHasNoBetween() {
        killedAfterItsFirstCommand(SetNxEx.class);

        assertThat(redis("TTL", LOCK)).isNotEqualTo(FOR_EVER);
        awaitEntry(on(SetNxEx::new));
    }

    /** The server has done it; the client is not told, and dies before it can say more. */
    private static void killedAfterItsFirstCommand(Class<? extends Rung> rung) {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                VisitorProcess first = VisitorProcess.start(rung, through(proxy), LOCK)) {
            proxy.toClient().hold();
            first.enters();
            proxy.toClient().awaitBite(PATIENCE);
            first.kill();
            assertThat(redis("EXISTS", LOCK))
                    .as("the first command was carried out")
                    .isEqualTo("1");
        }
    }

    // ---- the work takes longer than the lease, and then lets go

    @Test
    void whoIsLateDeletesTheKeyOfTheNext() {
        assertThat(aThirdEntersWhenTheFirstHasLeft(SetNxEx::new))
                .as("beside the second")
                .isTrue();
    }

    @Test
    void aValueOfItsOwnTellsWhoseKeyItIs() {
        assertThat(aThirdEntersWhenTheFirstHasLeft(UniqueValue::new)).isFalse();
    }

    /** The second is inside since the lease of the first was over; all have connected before it enters. */
    private boolean aThirdEntersWhenTheFirstHasLeft(Function<String, Rung> rung) {
        Rung third = on(rung);
        Rung next = on(rung);
        Visitor first = Visitor.comes(on(rung), LOCK);
        first.awaitInside();
        awaitTheEndOfTheLease();
        Visitor second = Visitor.comes(next, LOCK);
        second.awaitInside();
        first.leaves();
        boolean entered = Visitor.canEnter(third, LOCK);
        second.leaves();
        return entered;
    }

    // ---- a pause between the look and the deletion

    @Test
    @Tag("thorough")
    void whoPausesBetweenTheLookAndTheDeletionDeletesTheKeyOfTheNext() {
        assertThat(aThirdEntersWhenTheFirstHearsWhatItAsked(UniqueValue::new))
                .as("beside the second")
                .isTrue();
    }

    @Test
    void aScriptLooksAndDeletesInOneStep() {
        assertThat(aThirdEntersWhenTheFirstHearsWhatItAsked(LuaDelete::new)).isFalse();
    }

    /** The first asks in time; the answer comes when its lease is over, and somebody else is inside. */
    private boolean aThirdEntersWhenTheFirstHearsWhatItAsked(Function<String, Rung> rung) {
        Rung third = on(rung);
        Rung next = on(rung);
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Visitor first = Visitor.comes(keep(rung.apply(through(proxy))), LOCK);
            first.awaitInside();
            proxy.toClient().hold();
            first.finishes();
            proxy.toClient().awaitBite(PATIENCE);
            awaitTheEndOfTheLease();
            Visitor second = Visitor.comes(next, LOCK);
            second.awaitInside();
            proxy.heal();
            first.leaves();
            boolean entered = Visitor.canEnter(third, LOCK);
            second.leaves();
            return entered;
        }
    }
}
