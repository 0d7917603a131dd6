package dev.holdfast.bench.peer;

import dev.holdfast.bench.peer.Peer.PeerLock;
import java.util.concurrent.locks.Lock;

/** Anything that comes as a {@link Lock}. */
record JavaLock(Lock lock) implements PeerLock {
    @Override
    public void acquire() throws InterruptedException {
        lock.lockInterruptibly();
    }

    @Override
    public void release() {
        lock.unlock();
    }
}
