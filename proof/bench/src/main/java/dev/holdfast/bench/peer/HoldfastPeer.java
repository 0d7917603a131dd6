package dev.holdfast.bench.peer;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.time.Duration;
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
        return switch (mode) {
            case EXCLUSIVE -> new PlainLock(client.lock(name, options));
            case READ -> lock(client.readWriteLock(name, options).read()::acquire);
            case WRITE -> lock(client.readWriteLock(name, options).write()::acquire);
            case PERMIT -> lock(client.semaphore(name, PERMITS, options)::acquire);
            case SEVERAL -> lock(client.multiLock(Peer.together(name), options)::acquire);
        };
    }

    @Override
    public void close() {
        client.close();
    }

    private static <H extends AutoCloseable> PeerLock lock(Acquire<H> acquire) {
        return new OneLock<>(acquire);
    }

    /** How a hold is had. */
    private interface Acquire<H> {
        H acquire() throws InterruptedException;
    }

    private static final class PlainLock implements PeerLock {
        private final DistributedLock lock;
        private @Nullable Hold hold;

        PlainLock(DistributedLock lock) {
            this.lock = lock;
        }

        @Override
        public void acquire() throws InterruptedException {
            hold = lock.acquire();
        }

        @Override
        public boolean tryAcquire(Duration patience) throws InterruptedException {
            hold = (patience.isZero() ? lock.tryAcquire() : lock.tryAcquire(patience)).orElse(null);
            return hold != null;
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

    private static final class OneLock<H extends AutoCloseable> implements PeerLock {
        private final Acquire<H> lock;
        private @Nullable H hold;

        OneLock(Acquire<H> lock) {
            this.lock = lock;
        }

        @Override
        public void acquire() throws InterruptedException {
            hold = lock.acquire();
        }

        @Override
        public void release() throws Exception {
            H held = hold;
            if (held != null) {
                hold = null;
                held.close();
            }
        }
    }
}
