package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** An interrupt ends the waits that say so, clears the flag there and nowhere else, and leaves nothing behind. */
class JavaLockInterruptTest extends JavaLockCase {

    @Test
    void anInterruptBeforeEndsTheInterruptibleWaysInEvenWhereTheLockIsFree() {
        assertInterrupted(lock::lockInterruptibly);
        assertInterrupted(() -> lock.tryLock(1, TimeUnit.SECONDS));
        assertInterrupted(() -> lock.tryLock(0, TimeUnit.SECONDS));
        assertInterrupted(() -> lock.tryLock(-1, TimeUnit.SECONDS));
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(line.claimed).as("the store was not even asked").isEmpty();
    }

    @Test
    void anInterruptBeforeEndsAReentryTooAndCountsNoEntry() {
        lock.lock();
        assertInterrupted(lock::lockInterruptibly);
        assertInterrupted(() -> lock.tryLock(1, TimeUnit.SECONDS));
        lock.unlock();
        assertThat(isFreeForRivals()).isTrue();
    }

    private static void assertInterrupted(ThrowingCallable what) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(what).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).as("the flag after it was told").isFalse();
    }

    @Test
    void tryLockIgnoresTheFlagAndKeepsIt() throws Exception {
        Thread.currentThread().interrupt();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock()).as("again").isTrue();
        assertThat(Thread.interrupted()).isTrue();
        lock.unlock();
        lock.unlock();
        try (Hold theirs = rival.lock("a").acquire()) {
            Thread.currentThread().interrupt();
            assertThat(lock.tryLock()).isFalse();
            assertThat(Thread.interrupted()).as("also when it fails").isTrue();
            assertThat(theirs.isValid()).isTrue();
        }
    }

    @Test
    void tryLockIgnoresAnInterruptWhileTheStoreIsAsked() throws Exception {
        HostileStore.HoldReply slow = new HostileStore.HoldReply();
        line.claims = slow;
        Started<Boolean> trying = startAndWaitUntilItWaits(
                () -> lock.tryLock() && Thread.currentThread().isInterrupted());
        trying.thread().interrupt();
        trying.untilItWaits();
        slow.open.complete(null);
        assertThat(trying.result()).as("locked, and still interrupted").isTrue();
    }

    @Test
    void lockIgnoresTheFlagAndKeepsItWhereTheLockIsFree() {
        Thread.currentThread().interrupt();
        lock.lock();
        lock.lock();
        assertThat(Thread.interrupted()).isTrue();
        lock.unlock();
        lock.unlock();
    }

    @Test
    void lockWaitsOnHoweverOftenItIsInterruptedAndKeepsTheFlag() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        Started<Boolean> waiter = startAndWaitUntilItWaits(() -> {
            lock.lock();
            boolean flag = Thread.currentThread().isInterrupted();
            lock.unlock();
            return flag;
        });
        for (int i = 0; i < 10; i++) {
            waiter.thread().interrupt();
            waiter.untilItWaits();
        }
        assertThat(rival.lock("a").status().waiting())
                .as("its place in the queue")
                .isEqualTo(1);
        theirs.close();
        assertThat(waiter.result()).isTrue();
    }

    @Test
    void lockKeepsTheFlagEvenWhereItFails() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        Started<Boolean> waiter = startAndWaitUntilItWaits(() -> {
            assertThatThrownBy(lock::lock).isInstanceOf(ClientClosedException.class);
            return Thread.currentThread().isInterrupted();
        });
        waiter.thread().interrupt();
        waiter.untilItWaits();
        client.close();
        assertThat(waiter.result()).isTrue();
        theirs.close();
    }

    @Test
    void aWakeUpWithoutAReasonEndsNoWait() throws Exception {
        lock.lock();
        Started<Boolean> timed = startAndWaitUntilItWaits(() -> lock.tryLock(1, TimeUnit.DAYS));
        for (int i = 0; i < 100; i++) {
            LockSupport.unpark(timed.thread());
        }
        timed.untilItWaits();
        lock.unlock();
        assertThat(timed.result()).isTrue();
    }

    @Test
    void anInterruptEndsTheWaitOfLockInterruptiblyAndGivesUpItsPlace() throws Exception {
        assertThatAnInterruptEndsTheWait(lock::lockInterruptibly);
    }

    @Test
    void anInterruptEndsTheWaitOfATimedTryLockAndGivesUpItsPlace() throws Exception {
        assertThatAnInterruptEndsTheWait(() -> lock.tryLock(1, TimeUnit.DAYS));
    }

    private interface Waiting {
        void run() throws InterruptedException;
    }

    private void assertThatAnInterruptEndsTheWait(Waiting way) throws Exception {
        Hold theirs = rival.lock("a").acquire();
        Started<Boolean> waiter = startAndWaitUntilItWaits(() -> {
            assertThatThrownBy(way::run).isInstanceOf(InterruptedException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            return Thread.currentThread().isInterrupted();
        });
        waiter.thread().interrupt();
        assertThat(waiter.result()).as("the flag, once told").isFalse();
        soon(() -> rival.lock("a").status().waiting() == 0);
        theirs.close();
        assertThat(isFreeForRivals()).isTrue();
    }

    @Test
    void whoIsInterruptedIsPassedOverAndTheNextIsServed() throws Exception {
        lock.lock();
        AtomicInteger interrupted = new AtomicInteger();
        Started<Void> first = startAndWaitUntilItWaits(() -> {
            try {
                lock.lockInterruptibly();
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            }
            return null;
        });
        Started<Boolean> second = startAndWaitUntilItWaits(() -> lock.tryLock(1, TimeUnit.DAYS));
        first.thread().interrupt();
        first.result();
        lock.unlock();
        assertThat(second.result()).isTrue();
        assertThat(interrupted).hasValue(1);
    }
}
