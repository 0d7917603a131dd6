package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
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

    private final Map<Thread, HoldState> holds = new ConcurrentHashMap<>();
    private final TimeSource time;
    private final Runnable lostOneGone;

    /**
     * No owners yet.
     *
     * @param lostOneGone runs when a lost hold no longer belongs to any thread; under no mutex
     */
    HoldOwners(TimeSource time, Runnable lostOneGone) {
        this.time = time;
        this.lostOneGone = lostOneGone;
    }

    /** The hold this thread has and may enter again, or has lost and not closed yet. */
    @Nullable
    HoldState holdOf(Thread thread) {
        return holds.isEmpty() ? null : holds.get(thread);
    }

    /** Whether no thread has a hold here that it may still close. */
    boolean isEmpty() {
        return holds.isEmpty();
    }

    void add(Thread owner, HoldState hold) {
        holds.put(owner, hold);
    }

    void remove(Thread owner, HoldState hold) {
        holds.remove(owner, hold);
    }

    void clear() {
        holds.clear();
    }

    /** A hold no longer belongs to its thread: it is closed, or lost and cannot be closed. */
    void disown(HoldState closing) {
        Thread owner = closing.acquirer;
        if (owner != null && holds.remove(owner, closing)) {
            closing.unpin();
        }
        if (!closing.isOpen()) {
            lostOneGone.run();
        }
    }

    /**
     * A thread that ends or drops the hold it lost without closing it leaves an entry that no other code would clear.
     */
    void disownOnceDead(HoldState lost) {
        Thread owner = lost.acquirer;
        if (owner == null || holds.get(owner) != lost) {
            return;
        }
        if (owner.isAlive() && lost.anchor() != null) {
            time.schedule(() -> disownOnceDead(lost), OWNER_CHECK);
        } else {
            disown(lost);
        }
    }
}
