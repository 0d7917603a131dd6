package dev.holdfast.ladder.redis;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StaleTokenException;
import dev.holdfast.TokenGate;
import dev.holdfast.ladder.HoldfastRung;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.ladder.VisitorProcess;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each fault breaks one rung in Redis, and the next one stands. */
class RedisLadderTest {
    private static final String LOCK = "stock:7";
    private static final String FOR_EVER = "-1";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static RedisServer server;
    private final Deque<Rung> rungs = new ArrayDeque<>();

    @BeforeAll
    static void start() {
        server = orSkip(RedisServer::start);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @BeforeEach
    void forgetAll() {
        redis("FLUSHALL");
    }

    @AfterEach
    void close() {
        rungs.forEach(Rung::close);
    }

    // ---- the work throws

    @Test
    void workThatThrowsLeavesTheKeyForEver() {
        workThrowsUnder(SetNx::new);

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNx::new), LOCK)).isFalse();
    }

    @Test
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
    void aKilledProcessLeavesTheKeyForEver() {
        killedInside(SetNxFinally.class);

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNxFinally::new), LOCK)).isFalse();
    }

    @Test
    void aLeaseEndsTheKey() {
        killedInside(SetNxExpire.class);

        assertThat(Visitor.canEnter(on(SetNxExpire::new), LOCK)).isFalse();
        awaitEntry(on(SetNxExpire::new));
    }

    private static void killedInside(Class<? extends Rung> rung) {
        try (VisitorProcess first = VisitorProcess.start(rung, server.uri(), LOCK)) {
            first.enters().awaitInside().kill();
        }
    }

    // ---- the process is killed between two commands

    @Test
    void aProcessKilledBetweenSetNxAndExpireLeavesTheKeyForEver() {
        killedAfterItsFirstCommand(SetNxExpire.class);

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNxExpire::new), LOCK)).isFalse();
    }

    @Test
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
        }
        assertThat(redis("EXISTS", LOCK))
                .as("the first command was carried out")
                .isEqualTo("1");
    }

    // ---- the work takes longer than the lease, and then lets go

    @Test
    void whoIsLateDeletesTheKeyOfTheNext() {
        Visitor second = theNextIsInsideWhenTheFirstLeaves(SetNxEx::new);

        assertThat(Visitor.canEnter(on(SetNxEx::new), LOCK))
                .as("beside the second")
                .isTrue();
        second.leaves();
    }

    @Test
    void aValueOfItsOwnTellsWhoseKeyItIs() {
        Visitor second = theNextIsInsideWhenTheFirstLeaves(UniqueValue::new);

        assertThat(Visitor.canEnter(on(UniqueValue::new), LOCK)).isFalse();
        second.leaves();
    }

    private Visitor theNextIsInsideWhenTheFirstLeaves(Function<String, Rung> rung) {
        Visitor first = Visitor.comes(on(rung), LOCK);
        first.awaitInside();
        awaitTheEndOfTheLease();
        Visitor second = Visitor.comes(on(rung), LOCK);
        second.awaitInside();
        first.leaves();
        return second;
    }

    // ---- a pause between the look and the deletion

    @Test
    void whoPausesBetweenTheLookAndTheDeletionDeletesTheKeyOfTheNext() {
        Visitor second = theNextIsInsideWhenTheFirstHearsWhatItAsked(UniqueValue::new);

        assertThat(Visitor.canEnter(on(UniqueValue::new), LOCK))
                .as("beside the second")
                .isTrue();
        second.leaves();
    }

    @Test
    void aScriptLooksAndDeletesInOneStep() {
        Visitor second = theNextIsInsideWhenTheFirstHearsWhatItAsked(LuaDelete::new);

        assertThat(Visitor.canEnter(on(LuaDelete::new), LOCK)).isFalse();
        second.leaves();
    }

    /** The first asks in time; the answer comes when its lease is over, and somebody else is inside. */
    private Visitor theNextIsInsideWhenTheFirstHearsWhatItAsked(Function<String, Rung> rung) {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Visitor first = Visitor.comes(keep(rung.apply(through(proxy))), LOCK);
            first.awaitInside();
            proxy.toClient().hold();
            first.finishes();
            proxy.toClient().awaitBite(PATIENCE);
            awaitTheEndOfTheLease();
            Visitor second = Visitor.comes(on(rung), LOCK);
            second.awaitInside();
            proxy.heal();
            first.leaves();
            return second;
        }
    }

    // ---- the work takes longer than the lease

    @Test
    void whenTheLeaseIsOverTheNextComesInBesideTheFirst() {
        Visitor first = Visitor.comes(on(LuaDelete::new), LOCK);
        first.awaitInside();
        awaitTheEndOfTheLease();

        assertThat(Visitor.canEnter(on(LuaDelete::new), LOCK)).isTrue();
        assertThat(first.leaves()).as("told nothing").isTrue();
    }

    @Test
    void aWatchdogRenewsTheLease() {
        Visitor first = Visitor.comes(on(Watchdog::new), LOCK);
        first.awaitInside();
        Rung other = on(Watchdog::new);
        Awaitility.await()
                .during(Duration.ofSeconds(2 * RedisRung.LEASE_SECONDS))
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> !Visitor.canEnter(other, LOCK));
        first.leaves();
        assertThat(Visitor.canEnter(other, LOCK)).isTrue();
    }

    // ---- the process is stopped for longer than its lease, then goes on

    @Test
    void aStoppedProcessHasNoWatchdogAndOverwritesWhatTheNextWrote() {
        Resource stock = new Resource();

        Late first = goesOnAfterTheNext(Watchdog.class, on(Watchdog::new), stock);
        stock.write("the first", first.token);

        assertThat(stock.writtenLast).isEqualTo("the first");
        assertThat(first.told).isEmpty();
    }

    @Test
    void holdfastTellsItAndATokenStopsItAtTheResource() {
        Resource stock = new Resource();

        Late first = goesOnAfterTheNext(HoldfastRung.class, on(HoldfastRung::new), stock);
        assertThatThrownBy(() -> stock.write("the first", first.token)).isInstanceOf(StaleTokenException.class);

        assertThat(stock.writtenLast).isEqualTo("the next");
        assertThat(first.told).isEqualTo("HoldLostException");
    }

    /** One that goes on when it should not: the token with which it writes, and what it is told. */
    private record Late(long token, String told) {}

    private static Late goesOnAfterTheNext(Class<? extends Rung> rung, Rung next, Resource stock) {
        try (VisitorProcess first = VisitorProcess.start(rung, server.uri(), LOCK)) {
            first.enters().awaitInside().stop();
            Awaitility.await().atMost(PATIENCE).until(() -> next.run(LOCK, token -> stock.write("the next", token)));
            first.cont();
            return new Late(first.writes(), first.awaitEnd());
        }
    }

    // ---- the key is gone

    @Test
    void aWatchdogIsNotToldThatTheKeyIsGone() {
        assertThat(forgottenInside(Watchdog.class, on(Watchdog::new))).isEmpty();
    }

    @Test
    void holdfastTellsThatTheLockIsLost() {
        assertThat(forgottenInside(HoldfastRung.class, on(HoldfastRung::new))).isEqualTo("HoldLostException");
    }

    private static String forgottenInside(Class<? extends Rung> rung, Rung next) {
        try (VisitorProcess first = VisitorProcess.start(rung, server.uri(), LOCK)) {
            first.enters().awaitInside();
            redis("FLUSHALL");
            assertThat(Visitor.canEnter(next, LOCK)).as("beside the first").isTrue();
            giveItALeaseToNotice();
            first.writes();
            return first.awaitEnd();
        }
    }

    private static void giveItALeaseToNotice() {
        Duration lease = Duration.ofSeconds(RedisRung.LEASE_SECONDS);
        Awaitility.await().pollDelay(lease).atMost(lease.plus(PATIENCE)).until(() -> true);
    }

    // ----

    /** What the lock guards. It takes what comes with a token that is not lower than the last, or with none. */
    private static final class Resource {
        private final TokenGate gate = new TokenGate(LOCK);
        private String writtenLast = "nothing";

        void write(String text, long token) {
            if (token != Rung.NO_TOKEN) {
                gate.check(token);
            }
            writtenLast = text;
        }
    }

    private Rung on(Function<String, Rung> rung) {
        return keep(rung.apply(server.uri()));
    }

    private Rung keep(Rung rung) {
        rungs.push(rung);
        return rung;
    }

    private static void awaitEntry(Rung rung) {
        Awaitility.await().atMost(PATIENCE).until(() -> Visitor.canEnter(rung, LOCK));
    }

    private static void awaitTheEndOfTheLease() {
        Awaitility.await()
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> redis("EXISTS", LOCK).equals("0"));
    }

    private static String through(TcpProxy proxy) {
        return "redis://127.0.0.1:" + proxy.port();
    }

    private static String redis(String... command) {
        try (RespConnection connection = server.connect()) {
            return connection.call(command);
        }
    }
}
