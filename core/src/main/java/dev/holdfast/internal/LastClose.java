package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;

import dev.holdfast.Loss;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The last close of a hold by the grant of an {@link ExclusiveQueue}: the answer to its caller, and whether the store has
 * confirmed the grant since then, which proves that the hold was closed in time. Guarded by the queue's mutex.
 */
final class LastClose {
    private final EngineContext context;
    private final GrantState state;
    private final TokenBlock tokens;
    private long at;
    /** The caller's question whether the grant was released, while that is undecided. */
    private @Nullable CompletableFuture<Boolean> asked;

    LastClose(EngineContext context, GrantState state, TokenBlock tokens) {
        this.context = context;
        this.state = state;
        this.tokens = tokens;
    }

    /**
     * A hold is closed now.
     *
     * @param givenBack is completed once it is decided whether the grant is released or passed on
     */
    void begin(CompletableFuture<Boolean> givenBack) {
        at = context.time().nanoTime();
        asked = givenBack;
    }

    /** The grant was released, passed on or lost: answers the caller. */
    Runnable decided() {
        CompletableFuture<Boolean> answer = asked;
        if (answer == null) {
            return NOTHING;
        }
        asked = null;
        boolean givenBack = state.isGivenBack();
        return () -> answer.complete(givenBack);
    }

    /**
     * The hold that was closed last, if the store has not confirmed the grant since then; otherwise null. If the store no
     * longer has the grant, it is unknown whether such a hold was closed in time.
     */
    @Nullable
    HoldState unconfirmed() {
        return at - state.provedAt() < 0 ? null : tokens.lastHold();
    }

    /** The store has confirmed the grant: if it was asked after the close, no loss is reported to that hold. */
    void confirmed() {
        HoldState last = tokens.lastHold();
        if (last != null && unconfirmed() == null) {
            last.unpin(); // what its actions refer to is not kept for as long as the lock is retained
        }
    }

    /**
     * Reports the loss of a retained grant for the hold that was closed last. A retained grant is not released, so no answer
     * to a release shows that the store had already lost it at the close.
     */
    Runnable tellUnnoticed(Loss.Cause cause) {
        HoldState last = unconfirmed();
        return last == null
                ? NOTHING
                : () -> context.telemetry()
                        .lostUnnoticed(last, new Loss(last.name, last.token, cause, context.description()));
    }
}
