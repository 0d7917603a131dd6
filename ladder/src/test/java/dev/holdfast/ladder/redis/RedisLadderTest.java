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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
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
    private static final int ATTEMPTS = 5;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

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
        killedInside(SetNxFinally.class, () -> {});

        assertThat(redis("TTL", LOCK)).isEqualTo(FOR_EVER);
        assertThat(Visitor.canEnter(on(SetNxFinally::new), LOCK)).isFalse();
    }

    @Test
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
        Rung other = on(Watchdog::new);
        boolean nobodyEntered = false;
        for (int i = 0;
                i < ATTEMPTS && !nobodyEntered;
                i++) { // a busy machine may stop the watchdog itself for a lease
            Visitor first = Visitor.comes(on(Watchdog::new), LOCK);
            first.awaitInside();
            nobodyEntered = nobodyEntersForTwoLeases(other);
            first.leaves();
            assertThat(Visitor.canEnter(other, LOCK)).isTrue();
        }
        assertThat(nobodyEntered).as("for two leases").isTrue();
    }

    private static boolean nobodyEntersForTwoLeases(Rung other) {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(2 * RedisRung.LEASE_SECONDS)) {
            if (Visitor.canEnter(other, LOCK)) {
                return false;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
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
