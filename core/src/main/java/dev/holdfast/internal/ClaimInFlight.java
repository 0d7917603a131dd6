package dev.holdfast.internal;

import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.support.ElapsedTime;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A claim on its way to the store and back, and what the store answers. It may be called off at any time, also before it was
 * sent. Thread-safe.
 */
final class ClaimInFlight implements Effects.Effect, BiConsumer<@Nullable Grant, @Nullable Throwable> {
    private static final CompletableFuture<Void> DEALT_WITH = CompletableFuture.completedFuture(null);

    final Claim claim;
    /** The caller that asked. A claim that waits serves the waiter that is first in the queue when it is granted. */
    final Waiter asker;

    /** Whose claim it is, which receives the answer. */
    final WaitQueue queue;

    /** Where the store tells what came of it. */
    final Answer answer = new Answer(this);

    private volatile @Nullable Pending pending;
    /** Whether it was called off because no caller wanted it any more. */
    volatile boolean cancelled;
    /** When it was sent; null before that. */
    volatile ElapsedTime.@Nullable Moment sent;
    /** Whether it may have met an earlier hold of this client; null where the releases of all were confirmed. */
    private volatile @Nullable BooleanSupplier metOwn;

    /** Made for those who ask, or by the end. */
    private final AtomicReference<@Nullable CompletableFuture<Void>> settled = new AtomicReference<>();

    // ---- guarded by the mutex of its lock ----

    /** The store has reported the end of the grant before it was known here. */
    boolean knownLost;
    /** The store has reported that the grant may be gone before it was known here. */
    boolean inDoubt;
    /** What its answer says is seen to: a later answer says nothing. */
    boolean dealtWith;

    ClaimInFlight(Claim claim, Waiter asker, WaitQueue queue) {
        this.claim = claim;
        this.asker = asker;
        this.queue = queue;
    }

    /** Sends it, unless it was taken for failed before; what the store has not confirmed of the name goes first. */
    @Override
    public void run() {
        if (answer.isGiven()) {
            return;
        }
        Engine engine = queue.engine;
        metOwn = engine.releaseSender.sendUnconfirmed(claim.name());
        sent = engine.time.now();
        Pending sending = engine.store.claim(this);
        pending = sending;
        if (cancelled) {
            cancel(sending);
        }
    }

    /** Whether the store may have refused it for an earlier hold of this client, whose release it has not confirmed. */
    boolean mayHaveMetItsOwn() {
        BooleanSupplier met = metOwn;
        return met != null && met.getAsBoolean();
    }

    /** It may have been sent, and is withdrawn. */
    @Override
    public void hasThrown(Throwable why) {
        answer.failed(why);
    }

    @Override
    public void accept(@Nullable Grant grant, @Nullable Throwable why) {
        try {
            queue.answered(this, grant, why);
        } catch (Throwable broken) { // an Error: unless the answer was dealt with, nobody knows what came of the claim
            Throwable unknown = why == null ? broken : why;
            Effects.surely(() -> queue.answered(this, null, unknown));
        } finally {
            try {
                settle(why);
            } finally {
                ElapsedTime.Moment at = sent;
                if (at != null) {
                    queue.engine.store.ended(claim, at.nanoTime(), why);
                }
            }
        }
    }

    @Override
    public String toString() {
        return claim.toString();
    }

    private void settle(@Nullable Throwable why) {
        CompletableFuture<Void> end = why == null ? DEALT_WITH : CompletableFuture.failedFuture(why);
        CompletableFuture<Void> asked = settled.compareAndExchange(null, end);
        if (asked != null && why == null) {
            asked.complete(null);
        } else if (asked != null) {
            asked.completeExceptionally(why);
        }
    }

    /** Completes once its answer was dealt with, and fails as it did: where it was called off, whether the store knows. */
    CompletableFuture<Void> settled() {
        CompletableFuture<Void> asks = new CompletableFuture<>();
        CompletableFuture<Void> before = settled.compareAndExchange(null, asks);
        return before == null ? asks : before;
    }

    /** Asks the store to stop waiting, unless it was asked before; the answer still comes. */
    void cancel() {
        if (cancelled) {
            return;
        }
        cancelled = true;
        Pending waiting = pending;
        if (waiting != null) {
            cancel(waiting);
        }
    }

    private void cancel(Pending waiting) {
        try {
            waiting.cancel();
        } catch (Throwable e) {
            Log.warn(() ->
                    "could not withdraw the claim of '" + claim.name() + "' on " + queue.engine.store.description()
                            + "; a grant that still arrives is released, but others may wait until then: report this to the"
                            + " authors of the store: " + Redacted.text(e));
            answer.failed(e); // it may not answer any more; the claim is withdrawn by its id
        }
    }
}
