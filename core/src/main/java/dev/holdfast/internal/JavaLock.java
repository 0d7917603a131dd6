package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.ThreadLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * A lock as {@link java.util.concurrent.locks.Lock}: owned by threads, re-entrant. The local queue and the hold do the
 * work; {@link dev.holdfast.DistributedLock#asLock()} documents the promises, and the differences from a lock inside
 * one process. Stateless, so that all of one name are one lock; thread-safe.
 */
final class JavaLock implements ThreadLock {
    private final Engine engine;
    private final LockName name;
    private final Acquisition acquisition;

    JavaLock(Engine engine, LockName name, HoldOptions options) {
        this.engine = engine;
        this.name = name;
        this.acquisition = new Acquisition(engine, name, options.reentrant(true), true);
    }

    @Override
    public void lock() {
        acquisition.acquireUninterruptibly();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        acquisition.acquire();
    }

    @Override
    public boolean tryLock() {
        return acquisition.tryAcquire().isPresent();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return acquisition
                .acquire(Duration.ofNanos(Math.max(0, unit.toNanos(time))))
                .isPresent();
    }

    @Override
    public void unlock() {
        HoldState held = heldAs();
        if (held == null) {
            throw new IllegalMonitorStateException(
                    "'" + name + "' on " + engine.store.description() + " is not held by " + Thread.currentThread());
        }
        try {
            held.grant.lock().close(held, name.mode().kind());
        } catch (HoldLostException lost) {
            IllegalMonitorStateException thrown = new IllegalMonitorStateException(lost.getMessage());
            thrown.initCause(lost);
            throw thrown;
        }
    }

    @Override
    public boolean isHeldByCurrentThread() {
        HoldState held = heldAs();
        return held != null && held.grant.isValid();
    }

    @Override
    public int getHoldCount() {
        HoldState held = heldAs();
        return held == null ? 0 : held.entries(name.mode().kind());
    }

    private @Nullable HoldState heldAs() {
        HoldState held = OwnHold.heldByThisThread(engine, name);
        return held != null && held.entries(name.mode().kind()) > 0 ? held : null;
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock has no conditions: '" + name + "'");
    }

    @Override
    public String toString() {
        String what = name.mode().kind() == LockMode.SHARED ? " to read" : "";
        return "DistributedLock[" + name + what + " on " + engine.store.description() + "].asLock()";
    }
}
