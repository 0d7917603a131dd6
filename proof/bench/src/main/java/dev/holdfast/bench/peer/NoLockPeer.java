package dev.holdfast.bench.peer;

import java.time.Duration;

/** Excludes nobody. What the check for lost updates must catch. */
final class NoLockPeer implements Peer {
    @Override
    public PeerLock open(String name, Mode mode) {
        return new PeerLock() {
            @Override
            public void acquire() {}

            @Override
            public boolean tryAcquire(Duration patience) {
                return true;
            }

            @Override
            public void release() {}
        };
    }

    @Override
    public void close() {}
}
