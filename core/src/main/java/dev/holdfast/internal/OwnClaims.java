package dev.holdfast.internal;

import java.util.ArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one {@link SharedQueue} without an answer: at most one that waits in the store, and those of callers
 * that try once. Guarded by the queue's mutex.
 */
final class OwnClaims {
    private final ArrayList<ClaimInFlight> tries = new ArrayList<>();
    private @Nullable ClaimInFlight waiting;

    /** Makes room for one more, so that adding it cannot fail. */
    void reserve() {
        tries.ensureCapacity(tries.size() + 1);
    }

    void add(ClaimInFlight claim) {
        if (claim.claim.waits()) {
            waiting = claim;
        } else {
            tries.add(claim);
        }
    }

    /** The claim has its answer; false if it had one before. */
    boolean remove(ClaimInFlight answered) {
        boolean waited = waiting == answered;
        if (waited) {
            waiting = null;
        }
        return waited || tries.remove(answered);
    }

    /** The one that waits in the store, for all waiters here; null if there is none. */
    @Nullable
    ClaimInFlight waiting() {
        return waiting;
    }

    boolean isEmpty() {
        return waiting == null && tries.isEmpty();
    }

    Stream<ClaimInFlight> all() {
        return Stream.concat(Stream.ofNullable(waiting), tries.stream());
    }
}
