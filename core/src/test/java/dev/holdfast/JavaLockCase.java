package dev.holdfast;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;

/**
 * What the tests of {@code asLock()} share: a lock named "a" that the rival wants too.
 *
 * <p>The tests go through what {@link Lock} and {@link java.util.concurrent.locks.ReentrantLock} promise, by the
 * behaviours that the tests of JSR 166 look at.
 */
abstract class JavaLockCase extends EngineCase {
    final Lock lock = client.lock("a").asLock();

    boolean isFreeForRivals() {
        return rival.lock("a").tryAcquire().map(EngineCase::closed).isPresent();
    }

    boolean isTakenByAnotherThread() throws InterruptedException, ExecutionException {
        return elsewhere(lock::tryLock);
    }

    /** Calls on a thread of its own, and waits for the result. */
    static <T> T elsewhere(Callable<T> what) throws InterruptedException, ExecutionException {
        Started<T> started = start(what);
        return started.result();
    }
}
