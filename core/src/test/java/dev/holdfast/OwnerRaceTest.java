package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread owns the lock by the time it finds itself let in, however early it wakes, and as long as it says. */
class OwnerRaceTest extends EngineCase {
    private static final Duration A_WHILE = Duration.ofMillis(100);
    private static final int ROUNDS = 10_000;

    private final DistributedLock reentrant =
            client.lock("a", HoldOptions.defaults().reentrant(true));
    private final AtomicReference<Throwable> thrown = new AtomicReference<>();

    @Test
    void aThreadThatWakesBeforeTheHandOverIsCompleteCanUnlock() throws Exception {
        Hold hold = client.lock("a").acquire();
        Lock lock = reentrant.asLock();
        StoppingThread waiter = startWaiting(() -> {
            lock.lock();
            lock.unlock();
        });
        handOverWithAPause(hold, waiter);
        waiter.join();
        assertThat(thrown.get()).as("unlock() of a lock held").isNull();
    }

    @Test
    void aHoldThatWasClosedIsNotEnteredAgain() throws Exception {
        Hold hold = client.lock("a").acquire();
        CountDownLatch closed = new CountDownLatch(1);
        CountDownLatch again = new CountDownLatch(1);
        AtomicReference<Hold> second = new AtomicReference<>();
        StoppingThread waiter = startWaiting(() -> {
            reentrant.acquire().close();
            closed.countDown();
            again.await();
            second.set(reentrant.tryAcquire().orElse(null));
        });
        handOverWithAPause(hold, waiter);
        soon(() -> closed.getCount() == 0 || !waiter.isAlive());
        Hold theirs = rival.lock("a").tryAcquire().orElseThrow();
        again.countDown();
        waiter.join();
        assertThat(thrown.get()).isNull();
        assertThat(second.get()).as("acquired beside " + theirs).isNull();
    }

    @Test
    @Tag("thorough")
    void threadsThatAreWokenForNothingCanUnlockWhatTheyLocked() throws Exception {
        assertAllUnlockWhileDisturbed(LockSupport::unpark);
    }

    @Test
    void threadsThatAreInterruptedCanUnlockWhatTheyLocked() throws Exception {
        assertAllUnlockWhileDisturbed(Thread::interrupt);
    }

    @Test
    void aHoldThatAsLockHasEnteredIsNoLeakThoughNobodyRefersToIt() throws Exception {
        Lock lock = reentrant.asLock();
        enterTwiceAndCloseOnce(lock);
        for (int i = 0; i < 5; i++) {
            Garbage.collect();
            advance(8, s(5));
        }
        assertThat(rival.lock("a").tryAcquire())
                .as("our thread lives and has not unlocked")
                .isEmpty();
        lock.unlock();
    }

    private void enterTwiceAndCloseOnce(Lock lock) throws InterruptedException {
        try (Hold hold = reentrant.acquire()) {
            lock.lock();
            assertThat(hold.isValid()).isTrue();
        }
    }

    /** What a thread does; what it throws is kept. */
    private interface Step {
        void run() throws InterruptedException;
    }

    private StoppingThread startWaiting(Step step) {
        StoppingThread waiter = new StoppingThread(() -> {
            try {
                step.run();
            } catch (Throwable t) {
                thrown.set(t);
            }
        });
        waiter.start();
        soon(() -> waitsForALock(waiter));
        return waiter;
    }

    /** Closes a hold; the hand-over stops where the waiter is entered as the owner, and then the waiter wakes. */
    private void handOverWithAPause(Hold hold, StoppingThread waiter) throws InterruptedException {
        waiter.stops = true;
        Thread closer = new Thread(hold::close);
        closer.start();
        try {
            waiter.reached.await();
            LockSupport.unpark(waiter); // for nothing, as an interrupt or a permit that is left would do
            await().during(A_WHILE).until(() -> thrown.get() == null);
        } finally {
            waiter.goOn.countDown(); // in a test that fails, too: the closer has the mutex
        }
        closer.join();
    }

    /** A thread at whose hash code others stop: so does whoever enters it into a map. */
    @SuppressWarnings("SuperCallToObjectMethod") // that of Object is the one to be had
    private static final class StoppingThread extends Thread {
        final CountDownLatch reached = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        volatile boolean stops;

        StoppingThread(Runnable task) {
            super(task);
            setDaemon(true);
        }

        @Override
        public int hashCode() {
            if (stops && Thread.currentThread() != this) {
                reached.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return super.hashCode();
        }
    }

    private static void assertAllUnlockWhileDisturbed(Consumer<Thread> disturb) throws Exception {
        try (LockClient real = LockClient.builder(new MemoryStore().open()).build()) {
            List<Started<Void>> lockers = new ArrayList<>();
            for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
                lockers.add(start(() -> lockAndUnlock(real.lock("a").asLock())));
            }
            Started<Void> disturber = start(() -> {
                while (!lockers.stream().allMatch(Started::isOver)) {
                    lockers.forEach(locker -> disturb.accept(locker.thread()));
                }
                return null;
            });
            for (Started<Void> locker : lockers) {
                locker.result(); // IllegalMonitorStateException where it was not the owner
            }
            disturber.result();
        }
    }

    private static Void lockAndUnlock(Lock lock) {
        for (int i = 0; i < ROUNDS; i++) {
            lock.lock();
            lock.unlock();
        }
        return null;
    }
}
