package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code tryLock(time)} waits for the time it was given, neither less nor more. */
class JavaLockTimedTest extends JavaLockCase {

    @Test
    void noTimeAndNegativeTimesAreATryThatDoesNotWait() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        for (long none : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(lock.tryLock(none, TimeUnit.NANOSECONDS)).isFalse();
            assertThat(lock.tryLock(none, TimeUnit.DAYS)).isFalse();
        }
        assertThat(line.claimed).isNotEmpty().noneMatch(claim -> claim.waits());
        theirs.close();
        assertThat(lock.tryLock(0, TimeUnit.NANOSECONDS)).isTrue();
        assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS)).isTrue();
        lock.unlock();
        lock.unlock();
    }

    @Test
    void aFreeLockIsTakenAtOnceHoweverShortTheTime() throws Exception {
        assertThat(lock.tryLock(1, TimeUnit.NANOSECONDS)).isTrue();
        lock.unlock();
    }

    @Test
    void theWaitEndsWhenTheTimeHasPassedAndNotBefore() throws Exception {
        try (Hold theirs = rival.lock("a").acquire()) {
            Started<Boolean> waiter = startAndWaitUntilItWaits(() -> lock.tryLock(1500, TimeUnit.MILLISECONDS));
            time.advance(Duration.ofMillis(1499));
            assertThat(rival.lock("a").status().waiting()).isEqualTo(1);
            time.advance(Duration.ofMillis(1));
            assertThat(waiter.result()).isFalse();
            assertThat(rival.lock("a").status().waiting()).isZero();
            assertThat(theirs.isValid()).isTrue();
        }
        assertThat(isFreeForRivals()).as("nothing is left behind").isTrue();
    }

    @Test
    void aLockThatComesFreeInTimeIsTakenAndTheTimeThatIsLeftEndsNothing() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        Started<Void> waiter = startAndWaitUntilItWaits(() -> {
            assertThat(lock.tryLock(10, TimeUnit.SECONDS)).isTrue();
            time.advance(Duration.ofSeconds(9));
            assertThat(isFreeForRivals()).isFalse();
            lock.unlock();
            return null;
        });
        time.advance(Duration.ofSeconds(5));
        theirs.close();
        waiter.result();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void whoRunsOutOfTimeIsPassedOverAndTheNextIsServed() throws Exception {
        lock.lock();
        Started<Boolean> impatient = startAndWaitUntilItWaits(() -> lock.tryLock(1, TimeUnit.SECONDS));
        Started<Boolean> patient = startAndWaitUntilItWaits(() -> lock.tryLock(1, TimeUnit.DAYS));
        time.advance(Duration.ofSeconds(2));
        assertThat(impatient.result()).isFalse();
        lock.unlock();
        assertThat(patient.result()).isTrue();
    }

    @Test
    @Tag("thorough") // every renewal of a month
    void theLongestTimesAreForEver() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        Started<Boolean> waiter = startAndWaitUntilItWaits(() -> lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
        time.advance(Duration.ofDays(30));
        assertThat(waitsForALock(waiter.thread())).isTrue();
        theirs.close();
        assertThat(waiter.result()).isTrue();
    }

    @Test
    void theLongestTimesAreForEverOnTheClockOfTheMachineToo() throws Exception {
        try (LockClient real = LockClient.builder(new MemoryStore().open()).build()) {
            Lock contended = real.lock("a").asLock();
            contended.lock();
            Started<Boolean> nanos =
                    startAndWaitUntilItWaits(() -> contended.tryLock(Long.MAX_VALUE, TimeUnit.NANOSECONDS));
            Started<Boolean> days = startAndWaitUntilItWaits(() -> contended.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
            nanos.untilItWaits();
            days.untilItWaits();
            contended.unlock();
            assertThat(nanos.result()).isTrue();
            days.thread().interrupt();
            assertThatThrownBy(days::result).hasCauseInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void aTimeNeedsAUnit() {
        assertThatThrownBy(() -> lock.tryLock(1, null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> lock.tryLock(0, null)).isInstanceOf(NullPointerException.class);
        lock.lock();
        assertThatThrownBy(() -> lock.tryLock(0, null)).isInstanceOf(NullPointerException.class);
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }
}
