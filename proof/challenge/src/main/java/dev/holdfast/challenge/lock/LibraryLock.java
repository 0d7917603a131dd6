package dev.holdfast.challenge.lock;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;
import java.time.Duration;

/** A lock of another library, as the bench uses it. */
final class LibraryLock implements AttackedLock {
    /**
     * Between two tries of a caller whose lock never waits: what the libraries take that poll by themselves. A caller that
     * asks each millisecond takes a database away from all that run beside it.
     */
    static final Duration BETWEEN_TRIES = Duration.ofMillis(100);

    private final PeerLock lock;
    private final boolean waits;

    LibraryLock(Peer peer, String name, boolean waits) throws Exception {
        this.lock = peer.open(name, Mode.EXCLUSIVE);
        this.waits = waits;
    }

    @Override
    public Result turn(dev.holdfast.spi.Mode mode, Work work) throws Exception {
        acquire();
        try {
            work.run(Grip.UNTOLD);
        } finally {
            lock.release();
        }
        return Result.DONE;
    }

    private void acquire() throws Exception {
        if (waits) {
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
