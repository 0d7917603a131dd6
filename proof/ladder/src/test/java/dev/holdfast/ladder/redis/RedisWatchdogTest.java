package dev.holdfast.ladder.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StaleTokenException;
import dev.holdfast.TokenGate;
import dev.holdfast.ladder.HoldfastRung;
import dev.holdfast.ladder.Rung;
import dev.holdfast.ladder.Visitor;
import dev.holdfast.ladder.VisitorProcess;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The upper rungs in Redis: a lease that is too short, renewed, and lost. They wait for leases, beside the lower ones. */
@Tag("thorough")
class RedisWatchdogTest extends OnRedis {
    private static final int ATTEMPTS = 5;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

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
}
