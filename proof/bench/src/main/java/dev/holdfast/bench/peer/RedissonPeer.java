package dev.holdfast.bench.peer;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson with its default settings: watchdog on, 30 s, 24 to 64 connections, 16 and 32 threads. */
final class RedissonPeer implements Peer {
    private final RedissonClient client;
    private final boolean fair;

    RedissonPeer(String url, boolean fair) {
        Config config = new Config();
        config.useSingleServer().setAddress(url);
        this.client = Redisson.create(config);
        this.fair = fair;
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        if (fair) {
            Only.exclusive(mode, this);
        }
        return switch (mode) {
            case EXCLUSIVE -> new JavaLock(fair ? client.getFairLock(name) : client.getLock(name));
            case READ -> new JavaLock(client.getReadWriteLock(name).readLock());
            case WRITE -> new JavaLock(client.getReadWriteLock(name).writeLock());
            case PERMIT -> permit(client.getSemaphore(name));
            case SEVERAL ->
                new JavaLock(client.getMultiLock(
                        Peer.together(name).stream().map(client::getLock).toArray(RLock[]::new)));
        };
    }

    @Override
    public void close() {
        client.shutdown();
    }

    private static PeerLock permit(RSemaphore semaphore) {
        // Only the first to say it is heard; the others find it said.
        boolean unused = semaphore.trySetPermits(PERMITS);
        return new Permit(semaphore);
    }

    private record Permit(RSemaphore semaphore) implements PeerLock {
        @Override
        public void acquire() throws InterruptedException {
            semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.release();
        }
    }
}
