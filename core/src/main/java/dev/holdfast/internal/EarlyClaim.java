package dev.holdfast.internal;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A claim made before the store was open. A claim that waits outlasts failed attempts to open the store, as it would outlast
 * a restart of the store. A cancelled claim is still sent if the attempt under way succeeds: the store's answer, and no guess,
 * decides what the caller receives. Thread-safe.
 */
final class EarlyClaim implements Pending {
    private final StoreOpening opening;
    private final Claim claim;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private volatile boolean cancelled;
    private volatile @Nullable Pending sent;

    EarlyClaim(StoreOpening opening, Claim claim) {
        this.opening = opening;
        this.claim = claim;
    }

    /** Waits for the store, and sends the claim to it. */
    void ask() {
        opening.store().whenComplete((store, failure) -> {
            if (failure == null) {
                send(store);
            } else if (claim.waits() && !cancelled && failure instanceof StoreUnavailableException) {
                try {
                    opening.listener().unreachable(claim.name(), failure);
                } finally {
                    ask();
                }
            } else {
                answer.completeExceptionally(failure);
            }
        });
    }

    private void send(Store store) {
        try {
            if (!store.capabilities().modes().contains(claim.mode().kind())) {
                throw new UnsupportedByStoreException(opening.description() + " has no locks of mode "
                        + claim.mode().kind() + ", so none for '" + claim.name() + "': use another store");
            }
            Pending pending = store.claim(claim);
            sent = pending;
            pending.answer().whenComplete((grant, failure) -> {
                if (failure == null) {
                    answer.complete(grant);
                } else {
                    answer.completeExceptionally(failure);
                }
            });
            if (cancelled) {
                pending.cancel();
            }
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    @Override
    public CompletionStage<Optional<Grant>> answer() {
        return answer;
    }

    @Override
    public void cancel() {
        cancelled = true;
        Pending pending = sent;
        if (pending != null) {
            pending.cancel();
        }
    }
}
