package dev.holdfast;

import java.util.concurrent.locks.Lock;

/**
 * A lock as {@link Lock}, owned by threads and re-entrant; see {@link DistributedLock#asLock()}.
 *
 * <pre>{@code
 * ThreadLock guard = client.lock("report").asLock();
 * guard.lock();
 * try {
 *     assert guard.isHeldByCurrentThread();
 * } finally {
 *     guard.unlock();
 * }
 * }</pre>
 *
 * <p>Thread-safe. Asks no store: both answers are about this client alone.
 */
public interface ThreadLock extends Lock {

    /**
     * Whether the calling thread owns the lock and it is surely held right now: false while it is in doubt and once it
     * is lost. Where it was lost, {@link #getHoldCount()} stays above zero until it has been unlocked as often.
     */
    boolean isHeldByCurrentThread();

    /**
     * How often the calling thread has locked without unlocking, lost or not; zero if it does not own the lock, and
     * once the client is closed. Named as in {@link java.util.concurrent.locks.ReentrantLock#getHoldCount()}.
     */
    int getHoldCount();
}
