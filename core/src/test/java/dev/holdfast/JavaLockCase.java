package dev.holdfast;

import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/**
 * What the tests of {@code asLock()} share: a lock named "a" on a clock that moves when told, a second client that
 * wants it too, and threads to try things on.
 *
 * <p>The tests go through what {@link Lock} and {@link java.util.concurrent.locks.ReentrantLock} promise, by the
 * behaviours that the tests of JSR 166 look at.
 */
@Timeout(30)
abstract class JavaLockCase {
    final ManualTime time = new ManualTime();
    final MemoryStore memory = new MemoryStore(time);
    final HostileStore line = new HostileStore(memory.open(time));
    final LockClient client = LockClient.builder(line).time(time).build();
    final LockClient rival = LockClient.builder(memory.open(time)).time(time).build();
    final Lock lock = client.lock("a").asLock();

    @AfterEach
    void close() {
        Thread.interrupted();
        client.close();
        rival.close();
    }

    boolean isFreeForRivals() {
        return rival.lock("a").tryAcquire().map(JavaLockCase::closed).isPresent();
    }

    boolean isTakenByAnotherThread() throws InterruptedException, ExecutionException {
        return elsewhere(lock::tryLock);
    }

    private static Hold closed(Hold hold) {
        hold.close();
        return hold;
    }

    /** Calls on a thread of its own, and waits for the result. */
    static <T> T elsewhere(Callable<T> what) throws InterruptedException, ExecutionException {
        Started<T> started = start(what);
        return started.result();
    }

    /** Calls on a thread of its own. */
    static <T> Started<T> start(Callable<T> what) {
        FutureTask<T> task = new FutureTask<>(what);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return new Started<>(thread, task);
    }

    /** Calls on a thread of its own that is to wait for a lock, and returns once it does. */
    static <T> Started<T> startAndWaitUntilItWaits(Callable<T> what) {
        Started<T> started = start(what);
        started.untilItWaits();
        return started;
    }

    record Started<T>(Thread thread, FutureTask<T> task) {
        T result() throws InterruptedException, ExecutionException {
            return task.get();
        }

        void untilItWaits() {
            soon(() -> waitsForALock(thread));
        }
    }

    /** Whether a thread is parked in the queue of a lock, with everything about its wait set up. */
    static boolean waitsForALock(Thread thread) {
        Object blocker = LockSupport.getBlocker(thread);
        return thread.getState() == Thread.State.WAITING
                && blocker != null
                && blocker.getClass().getSimpleName().equals("Waiter");
    }

    static void soon(Callable<Boolean> condition) {
        await().pollInterval(Duration.ofMillis(1)).until(condition);
    }
}
