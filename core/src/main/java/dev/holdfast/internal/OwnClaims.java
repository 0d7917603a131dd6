package dev.holdfast.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one {@link SharedQueue} without an answer: at most one that waits in the store, and those of callers
 * that try once. Guarded by the queue's mutex.
 */
final class OwnClaims {
    private final List<ClaimInFlight> tries = new ArrayList<>();
    private @Nullable ClaimInFlight waiting;

    void add(ClaimInFlight claim) {
        if (claim.claim.waits()) {
            waiting = claim;
        } else {
            tries.add(claim);
        }
    }

    /** The claim has its answer. */
    void remove(ClaimInFlight answered) {
        if (waiting == answered) {
            waiting = null;
        }
        tries.remove(answered);
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
