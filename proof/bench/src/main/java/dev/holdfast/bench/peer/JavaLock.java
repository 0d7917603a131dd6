package dev.holdfast.bench.peer;

import dev.holdfast.bench.peer.Peer.PeerLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** Anything that comes as a {@link Lock}. */
record JavaLock(Lock lock) implements PeerLock {
    @Override
    public void acquire() throws InterruptedException {
        lock.lockInterruptibly();
    }

    @Override
    public boolean tryAcquire(Duration patience) throws InterruptedException {
        return patience.isZero() ? lock.tryLock() : lock.tryLock(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void release() {
        lock.unlock();
    }
}
