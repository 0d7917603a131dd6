package dev.holdfast.bench.peer;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import org.jspecify.annotations.Nullable;

/** This library, on whatever store the URL names. */
final class HoldfastPeer implements Peer {
    private final LockClient client;
    private final HoldOptions options;

    HoldfastPeer(String url, HoldOptions options) {
        this.client = LockClient.connect(url);
        this.options = options;
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new OneLock(client.lock(name, options));
    }

    @Override
    public void close() {
        client.close();
    }

    private static final class OneLock implements PeerLock {
        private final DistributedLock lock;
        private @Nullable Hold hold;

        OneLock(DistributedLock lock) {
            this.lock = lock;
        }

        @Override
        public void acquire() throws InterruptedException {
            hold = lock.acquire();
        }

        @Override
        public void release() {
            Hold held = hold;
            if (held != null) {
                hold = null;
                held.close();
            }
        }
    }
}
