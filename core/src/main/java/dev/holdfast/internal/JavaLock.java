package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock as {@link Lock}: owned by threads, re-entrant. Everything is the local queue's and the hold's doing; what is
 * promised, and where that differs from a lock inside one process, stands at
 * {@link dev.holdfast.DistributedLock#asLock()}. Stateless, so that all of one name are one lock; thread-safe.
 */
final class JavaLock implements Lock {
    private final Engine engine;
    private final LockName name;
    private final HoldOptions options;

    JavaLock(Engine engine, LockName name, HoldOptions options) {
        this.engine = engine;
        this.name = name;
        this.options = options;
    }

    @Override
    public void lock() {
        Acquisition.uninterruptibly(engine, name, options);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        Acquisition.interruptibly(engine, name, options, true, null);
    }

    @Override
    public boolean tryLock() {
        return Acquisition.once(engine, name, options, true).isPresent();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long nanos = unit.toNanos(time);
        return nanos <= 0
                ? tryLock()
                : Acquisition.interruptibly(engine, name, options, true, Duration.ofNanos(nanos))
                        .isPresent();
    }

    @Override
    public void unlock() {
        LocalLock lock = engine.localLock(name);
        LiveHold held = lock == null ? null : lock.ownedBy(Thread.currentThread());
        if (held == null || lock == null) {
            throw new IllegalMonitorStateException(
                    "'" + name + "' on " + engine.storeDescription() + " is not held by " + Thread.currentThread());
        }
        try {
            lock.close(held);
        } catch (HoldLostException lost) {
            IllegalMonitorStateException thrown = new IllegalMonitorStateException(lost.getMessage());
            thrown.initCause(lost);
            throw thrown;
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock has no conditions: '" + name + "'");
    }

    @Override
    public String toString() {
        return "DistributedLock[" + name + " on " + engine.storeDescription() + "].asLock()";
    }
}
