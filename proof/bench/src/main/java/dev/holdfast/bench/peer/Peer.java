package dev.holdfast.bench.peer;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A lock library as one process uses it: open a lock, acquire, release, close.
 *
 * <pre>{@code
 * try (Peer peer = Peers.of("redisson").connect("redis://127.0.0.1:6379", 1)) {
 *     PeerLock lock = peer.open("order:42", Mode.EXCLUSIVE);   // once per thread
 *     lock.acquire();
 *     lock.release();
 * }
 * }</pre>
 *
 * <p>Opening is thread-safe; a {@link PeerLock} belongs to the thread that opened it.
 */
public interface Peer extends AutoCloseable {
    /** How many permits the semaphores have. */
    int PERMITS = 4;

    /** How many locks are held together by {@link Mode#SEVERAL}. */
    int TOGETHER = 5;

    /** Opens a lock for the calling thread; many names may be opened, one after the other. */
    PeerLock open(String name, Mode mode) throws Exception;

    /** The names of those that are held together. */
    static List<String> together(String name) {
        return IntStream.range(0, TOGETHER).mapToObj(i -> name + "-" + i).toList();
    }

    /** Ends the connections to the store. */
    @Override
    void close() throws Exception;

    /** What of a lock is wanted. */
    enum Mode {
        /** A plain lock. */
        EXCLUSIVE,
        /** The shared side of a read-write lock. */
        READ,
        /** The exclusive side of a read-write lock. */
        WRITE,
        /** One of {@link Peer#PERMITS} permits of a semaphore. */
        PERMIT,
        /** {@link Peer#TOGETHER} plain locks held together, named after the one name. */
        SEVERAL
    }

    /** One thread's view of a lock. */
    interface PeerLock {
        /** Waits for the lock for as long as it takes. */
        void acquire() throws Exception;

        /**
         * Tries to acquire the lock; plain locks alone have it.
         *
         * @param patience how long the try may wait; zero for a try that does not wait
         * @return whether the caller holds the lock
         */
        default boolean tryAcquire(Duration patience) throws Exception {
            throw new UnsupportedOperationException(getClass().getSimpleName() + " has no try");
        }

        /** Releases it. */
        void release() throws Exception;

        /** Frees what was opened for this thread alone; most have nothing. */
        default void close() throws Exception {}
    }
}
