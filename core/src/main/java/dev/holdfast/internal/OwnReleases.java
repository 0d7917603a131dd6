package dev.holdfast.internal;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The releases of one queue that no claim of its client may overtake. Thread-safe. */
final class OwnReleases {
    private final Map<GrantState, CompletableFuture<Void>> underWay = new ConcurrentHashMap<>();

    boolean isEmpty() {
        return underWay.isEmpty();
    }

    /** The release of a grant is about to be sent. */
    void begin(GrantState released) {
        underWay.put(released, new CompletableFuture<>());
    }

    /** Claims may follow it. */
    void end(GrantState released) {
        CompletableFuture<Void> gone = underWay.remove(released);
        if (gone != null) {
            gone.complete(null);
        }
    }

    /** Sends a claim behind those under way now. */
    void before(Runnable send) {
        if (underWay.isEmpty()) {
            send.run();
        } else {
            CompletableFuture.allOf(underWay.values().toArray(CompletableFuture[]::new))
                    .whenComplete((answered, failed) -> send.run());
        }
    }
}
