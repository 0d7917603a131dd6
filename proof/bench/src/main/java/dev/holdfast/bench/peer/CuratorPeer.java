package dev.holdfast.bench.peer;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.jspecify.annotations.Nullable;

/**
 * Curator with its default time-outs. Its lock objects may be shared by the threads of a process, as most users do, or
 * made for each thread, which its own queue of threads gains from.
 */
final class CuratorPeer implements Peer {
    private static final int FIRST_PAUSE_MILLIS = 100;
    private static final int RETRIES = 3;
    private static final int PATIENCE_SECONDS = 30;

    private final CuratorFramework client;
    private final boolean sharedByThreads;
    private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();
    private final Map<String, InterProcessSemaphoreV2> semaphores = new ConcurrentHashMap<>();

    CuratorPeer(String url, boolean sharedByThreads) throws InterruptedException {
        this.sharedByThreads = sharedByThreads;
        this.client = CuratorFrameworkFactory.newClient(
                ZooKeeperUrl.servers(url), new ExponentialBackoffRetry(FIRST_PAUSE_MILLIS, RETRIES));
        client.start();
        if (!client.blockUntilConnected(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            client.close();
            throw new IllegalStateException("no connection to ZooKeeper");
        }
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        String path = "/curator/" + name;
        return switch (mode) {
            case EXCLUSIVE -> new Mutex(mutex(path));
            case READ -> new Mutex(readWriteLock(path).readLock());
            case WRITE -> new Mutex(readWriteLock(path).writeLock());
            case PERMIT -> new Permit(semaphore(path));
            case SEVERAL ->
                new Mutex(new InterProcessMultiLock(
                        Peer.together(path).stream().map(this::mutex).toList()));
        };
    }

    @Override
    public void close() {
        client.close();
    }

    private InterProcessLock mutex(String path) {
        return sharedByThreads
                ? mutexes.computeIfAbsent(path, key -> new InterProcessMutex(client, key))
                : new InterProcessMutex(client, path);
    }

    private InterProcessReadWriteLock readWriteLock(String path) {
        return sharedByThreads
                ? readWriteLocks.computeIfAbsent(path, key -> new InterProcessReadWriteLock(client, key))
                : new InterProcessReadWriteLock(client, path);
    }

    private InterProcessSemaphoreV2 semaphore(String path) {
        return sharedByThreads
                ? semaphores.computeIfAbsent(path, key -> new InterProcessSemaphoreV2(client, key, PERMITS))
                : new InterProcessSemaphoreV2(client, path, PERMITS);
    }

    private record Mutex(InterProcessLock lock) implements PeerLock {
        @Override
        public void acquire() throws Exception {
            lock.acquire();
        }

        @Override
        public boolean tryAcquire(Duration patience) throws Exception {
            return lock.acquire(patience.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        public void release() throws Exception {
            lock.release();
        }
    }

    private static final class Permit implements PeerLock {
        private final InterProcessSemaphoreV2 semaphore;
        private @Nullable Lease lease;

        Permit(InterProcessSemaphoreV2 semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public void acquire() throws Exception {
            lease = semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.returnLease(lease);
        }
    }
}
