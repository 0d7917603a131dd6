package dev.holdfast.internal;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The threads that own holds of one queue. Only the owner may enter its hold again, and only the owner may close it. A
 * lost hold keeps its owner until that thread closes it, or can no longer close it. Thread-safe.
 */
final class HoldOwners {
    private static final Duration OWNER_CHECK = Duration.ofSeconds(10);

    private final WaitQueue queue;
    /** Null until the first comes: most locks are held by no thread. */
    private volatile @Nullable Map<Thread, HoldState> holds;

    HoldOwners(WaitQueue queue) {
        this.queue = queue;
    }

    /** The hold this thread has and may enter again, or has lost and not closed yet. */
    @Nullable
    HoldState holdOf(Thread thread) {
        Map<Thread, HoldState> all = holds;
        return all == null ? null : all.get(thread);
    }

    /** Whether no thread has a hold here that it may still close. */
    boolean isEmpty() {
        Map<Thread, HoldState> all = holds;
        return all == null || all.isEmpty();
    }

    /** Under the mutex. */
    void add(Thread owner, HoldState hold) {
        Map<Thread, HoldState> all = holds;
        if (all == null) {
            all = new ConcurrentHashMap<>();
            holds = all;
        }
        all.put(owner, hold);
    }

    /** Whether it was there. */
    boolean remove(Thread owner, HoldState hold) {
        Map<Thread, HoldState> all = holds;
        return all != null && all.remove(owner, hold);
    }

    void clear() {
        Map<Thread, HoldState> all = holds;
        if (all != null) {
            all.clear();
        }
    }

    /** A hold no longer belongs to its thread: it is closed, or lost and cannot be closed. */
    void disown(HoldState closing) {
        Thread owner = closing.acquirer;
        if (owner != null && remove(owner, closing)) {
            closing.unpin();
        }
        if (!closing.isOpen()) {
            queue.goOn();
        }
    }

    /**
     * A thread that ends or drops the hold it lost without closing it leaves an entry that no other code would clear.
     */
    void disownOnceDead(HoldState lost) {
        Thread owner = lost.acquirer;
        if (owner == null || holdOf(owner) != lost) {
            return;
        }
        if (owner.isAlive() && lost.anchor() != null) {
            queue.context.time().schedule(() -> disownOnceDead(lost), OWNER_CHECK);
        } else {
            disown(lost);
        }
    }
}
