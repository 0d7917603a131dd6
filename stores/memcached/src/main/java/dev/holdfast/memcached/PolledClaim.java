package dev.holdfast.memcached;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A claim under way. Memcached has no queue and sends no messages: a claim that waits polls the item of its name, every 1 to
 * 20 ms, less often the longer it waits. A claim that is cancelled asks once more, so that it never reports "busy" of a store
 * that does not answer.
 *
 * <pre>
 *   ASKING ── not yet, or no answer, and the claim waits ──► IDLE ── after a pause ──► ASKING …
 *     │                                                       └───── cancelled ──────► CANCELLED, asks once more
 *     ├── cancelled ──► CANCELLED: this request was the last
 *     └── granted, refused or failed: answered
 * </pre>
 *
 * <p>Thread-safe.
 */
final class PolledClaim implements Pending {
    private static final long FIRST_PAUSE = Duration.ofMillis(1).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMillis(20).toNanos();
    private static final int MOST_DOUBLINGS = 5;

    private enum State {
        ASKING,
        IDLE,
        CANCELLED
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.ASKING);
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final MemcachedStore store;
    private final Claim claim;
    private final Answer answer;
    private final @Nullable PolledClaim before;
    private int requests; // used only by the thread that changed the state last, and by its request
    private int failures;
    private boolean mayComeLate; // a write of it got no answer

    /**
     * A claim that is not sent yet.
     *
     * @param before under the same id, and not answered yet
     */
    PolledClaim(MemcachedStore store, Claim claim, Answer answer, @Nullable PolledClaim before) {
        this.store = store;
        this.claim = claim;
        this.answer = answer.after(this::over);
        this.before = before;
    }

    @Override
    public void cancel() {
        if (state.getAndSet(State.CANCELLED) == State.IDLE) {
            ask();
        }
    }

    /** Cancels it, and those before it under its id; completes when all have their answers. */
    CompletableFuture<?> end() {
        cancel();
        return before == null ? ended : CompletableFuture.allOf(ended, before.end());
    }

    void fail(Throwable why) {
        answer.failed(why);
        if (before != null) {
            before.fail(why);
        }
    }

    private void over() {
        store.forget(claim.id(), this);
        ended.complete(null);
    }

    /** Writes at first, and after a failure, when the claim may have the name already; otherwise it reads before. */
    PolledClaim ask() {
        if (answer.isGiven()) {
            return this;
        }
        CompletableFuture.completedFuture(requests++ > 0 && failures == 0)
                .thenCompose(reads -> reads ? store.isTaken(claim) : CompletableFuture.completedFuture(false))
                .thenCompose(taken -> taken
                        ? CompletableFuture.completedFuture(Optional.<Grant>empty())
                        : store.acquire(claim, (grant, why) -> mayComeLate |= why != null))
                .whenComplete(this::answered);
        return this;
    }

    /** Whatever a timer throws is an answer too: nothing else would ask again. */
    private void answered(Optional<Grant> grant, @Nullable Throwable failure) {
        try {
            goOn(grant, failure);
        } catch (Throwable broken) {
            answer.failed(store.broken(broken));
        }
    }

    private void goOn(Optional<Grant> grant, @Nullable Throwable failure) {
        if (failure != null) {
            Throwable why = Errors.unwrapped(failure);
            long pause = Pauses.beforeRetry(failures++);
            if (!(why instanceof StoreUnavailableException) || !asksAgain(pause)) {
                answer.failed(store.broken(why));
            } else {
                store.listener.unreachable(claim.name(), why);
            }
            return;
        }
        failures = 0;
        if (claim.waits()) {
            store.listener.reachable(claim.name());
        }
        if (grant.isPresent()) {
            if (!answer.granted(grant.get())) {
                store.release(claim.name(), claim.id());
            }
        } else if (!asksAgain(
                Pauses.jittered(Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(requests, MOST_DOUBLINGS))))) {
            if (mayComeLate) { // and then hold the lock with no holder
                store.time.schedule(
                        () -> store.release(claim.name(), claim.id()),
                        claim.lease().dividedBy(3));
            }
            answer.refused();
        }
    }

    private boolean asksAgain(long nanos) {
        if (!claim.waits() || !state.compareAndSet(State.ASKING, State.IDLE)) {
            return false;
        }
        store.time.schedule(
                () -> {
                    if (state.compareAndSet(State.IDLE, State.ASKING)) {
                        ask();
                    }
                },
                Duration.ofNanos(nanos));
        return true;
    }
}
