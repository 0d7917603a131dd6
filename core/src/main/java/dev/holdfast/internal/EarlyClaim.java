package dev.holdfast.internal;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A claim made before the store was open. A claim that waits outlasts failed attempts to open the store, as it would outlast
 * a restart of the store. A cancelled claim is still sent if the attempt under way succeeds: the store's answer, and no guess,
 * decides what the caller receives. Thread-safe.
 */
final class EarlyClaim implements Pending {
    private final StoreOpening opening;
    private final Claim claim;
    private final Answer answer;
    private volatile boolean cancelled;
    private volatile @Nullable Pending sent;

    EarlyClaim(StoreOpening opening, Claim claim, Answer answer) {
        this.opening = opening;
        this.claim = claim;
        this.answer = answer;
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
                answer.failed(failure);
            }
        });
    }

    private void send(Store store) {
        try {
            if (!store.capabilities().modes().contains(claim.mode().kind())) {
                throw new UnsupportedByStoreException(opening.description() + " has no locks of mode "
                        + claim.mode().kind() + ", so none for '" + claim.name() + "': use another store");
            }
            Pending pending = Objects.requireNonNull(store.claim(claim, answer), "the store answered null");
            sent = pending;
            if (cancelled) {
                pending.cancel();
            }
        } catch (RuntimeException | Error e) {
            answer.failed(e);
        }
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
