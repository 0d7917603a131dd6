package dev.holdfast.challenge.lock;

import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.ShedLock;
import dev.holdfast.spi.Mode;
import java.time.Duration;

/** A lock of another library, as the bench uses it. */
record LibraryLock(PeerLock lock) implements AttackedLock {
    /**
     * Between two tries of a caller of ShedLock, which never waits: what the libraries take that poll by themselves. A caller
     * that asks each millisecond takes a database away from all that run beside it.
     */
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        acquire();
        try {
            work.run(Grip.UNTOLD);
        } finally {
            lock.release();
        }
        return Result.DONE;
    }

    private void acquire() throws Exception {
        if (!(lock instanceof ShedLock)) {
            lock.acquire();
            return;
        }
        while (!lock.tryAcquire(Duration.ZERO)) {
            Thread.sleep(BETWEEN_TRIES.toMillis());
        }
    }

    @Override
    public void close() throws Exception {
        lock.close();
    }
}
