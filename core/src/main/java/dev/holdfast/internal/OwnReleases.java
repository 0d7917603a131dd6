package dev.holdfast.internal;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The releases of one queue that no claim of its client may overtake. Thread-safe. */
final class OwnReleases {
    private final Set<CompletableFuture<Void>> underWay = ConcurrentHashMap.newKeySet();

    boolean isEmpty() {
        return underWay.isEmpty();
    }

    /** Notes one that is about to be sent; the returned task is to run once claims may follow it. */
    Runnable begin() {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        underWay.add(gone);
        return () -> {
            underWay.remove(gone);
            gone.complete(null);
        };
    }

    /** Sends a claim behind those under way now. */
    void before(Runnable send) {
        if (underWay.isEmpty()) {
            send.run();
        } else {
            CompletableFuture.allOf(underWay.toArray(CompletableFuture[]::new))
                    .whenComplete((answered, failed) -> send.run());
        }
    }
}
