package dev.holdfast.challenge.lock;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.Mode;
import dev.holdfast.bench.peer.Peer.PeerLock;

/** A lock of another library, as the bench uses it. */
final class LibraryLock implements AttackedLock {
    private final PeerLock lock;

    LibraryLock(Peer peer, String name) throws Exception {
        this.lock = peer.open(name, Mode.EXCLUSIVE);
    }

    @Override
    public Result turn(dev.holdfast.spi.Mode mode, Work work) throws Exception {
        lock.acquire();
        try {
            work.run(UNTOLD);
        } finally {
            lock.release();
        }
        return Result.DONE;
    }

    @Override
    public void close() throws Exception {
        lock.close();
    }
}
