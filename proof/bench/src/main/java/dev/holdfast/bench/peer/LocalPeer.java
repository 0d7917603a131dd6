package dev.holdfast.bench.peer;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Fair locks of the JDK, within one JVM: the ceiling, since no lock that several processes share can be cheaper than one
 * queue of parked threads.
 */
final class LocalPeer implements Peer {
    private final Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();
    private final Map<String, ReentrantReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();
    private final Map<String, Semaphore> semaphores = new ConcurrentHashMap<>();

    @Override
    public PeerLock open(String name, Mode mode) {
        return switch (mode) {
            case EXCLUSIVE -> new JavaLock(lock(name));
            case READ -> new JavaLock(readWriteLock(name).readLock());
            case WRITE -> new JavaLock(readWriteLock(name).writeLock());
            case PERMIT -> new Permit(semaphores.computeIfAbsent(name, key -> new Semaphore(PERMITS, true)));
            case SEVERAL ->
                new OneByOne(Peer.together(name).stream().map(this::lock).toList());
        };
    }

    @Override
    public void close() {}

    private ReentrantLock lock(String name) {
        return locks.computeIfAbsent(name, key -> new ReentrantLock(true));
    }

    private ReentrantReadWriteLock readWriteLock(String name) {
        return readWriteLocks.computeIfAbsent(name, key -> new ReentrantReadWriteLock(true));
    }

    /** All in one order. */
    private record OneByOne(List<ReentrantLock> locks) implements PeerLock {
        @Override
        public void acquire() throws InterruptedException {
            for (ReentrantLock lock : locks) {
                lock.lockInterruptibly();
            }
        }

        @Override
        public void release() {
            locks.forEach(ReentrantLock::unlock);
        }
    }

    private record Permit(Semaphore semaphore) implements PeerLock {
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
