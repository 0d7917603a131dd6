package dev.holdfast.internal;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Redacted;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A claim on its way to the store and back. It may be called off at any time, also before it was sent. Thread-safe.
 */
final class ClaimInFlight implements Effects.Effect {
    final Claim claim;
    /** The caller that asked. A claim that waits serves the waiter that is first in the queue when it is granted. */
    final Waiter asker;

    /** Whose claim it is, which receives the answer. */
    final WaitQueue queue;

    private volatile @Nullable Pending pending;
    private volatile boolean cancelled;
    private volatile long wallLead;
    private final CompletableFuture<Void> settled = new CompletableFuture<>();

    // Guarded by the local queue's mutex: what the store reported of its grant before the answer was handled.
    private boolean knownLost;
    private boolean inDoubt;

    ClaimInFlight(Claim claim, Waiter asker, WaitQueue queue) {
        this.claim = claim;
        this.asker = asker;
        this.queue = queue;
    }

    /** Sends it, unless it was taken for failed before; what the store has not confirmed of the name goes first. */
    @Override
    public void run() {
        if (settled.isDone()) {
            return;
        }
        queue.context.releaseSender().sendUnconfirmed(claim.name());
        wallLead = Validity.wallLead(queue.context.time());
        StoreLink.SentClaim sent = queue.context.store().claim(claim);
        pending = sent.pending();
        sent.answer().whenComplete(this::answered);
        if (cancelled && sent.pending() != null) {
            cancel(sent.pending());
        }
    }

    /** It may have been sent, and is withdrawn. */
    @Override
    public void failed(Throwable why) {
        answered(null, why);
    }

    @Override
    public String toString() {
        return claim.toString();
    }

    private void answered(@Nullable Optional<Grant> answer, @Nullable Throwable failure) {
        try {
            queue.answered(this, answer, failure);
        } finally {
            settle(failure);
        }
    }

    private void settle(@Nullable Throwable failure) {
        if (failure == null) {
            settled.complete(null);
        } else {
            settled.completeExceptionally(failure);
        }
    }

    /** Completes once its answer was dealt with, and fails as it did: where it was called off, whether the store knows. */
    CompletableFuture<Void> settled() {
        return settled;
    }

    void reportedLost() {
        knownLost = true;
    }

    void reportedSuspect() {
        inDoubt = true;
    }

    /** Whether the store has reported the end of the grant before it was known here. */
    boolean isKnownLost() {
        return knownLost;
    }

    /** Whether the store has reported that the grant may be gone before it was known here. */
    boolean isInDoubt() {
        return inDoubt;
    }

    /** How far the wall clock was ahead when it was sent. */
    long wallLead() {
        return wallLead;
    }

    /** Whether it was called off because no caller wanted it any more. */
    boolean isCalledOff() {
        return cancelled;
    }

    /** Asks the store to stop waiting, unless it was asked before; the answer still comes. */
    void cancel() {
        if (cancelled) {
            return;
        }
        cancelled = true;
        Pending sent = pending;
        if (sent != null) {
            cancel(sent);
        }
    }

    private void cancel(Pending sent) {
        try {
            sent.cancel();
        } catch (Throwable e) {
            Log.warn(() -> "could not withdraw the claim of '" + claim.name() + "' on " + queue.context.description()
                    + "; a grant that still arrives is released, but others may wait until then: report this to the"
                    + " authors of the store: " + Redacted.text(e));
            settle(e);
        }
    }
}
