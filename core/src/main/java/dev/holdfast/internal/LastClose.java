package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;

import dev.holdfast.Loss;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The last close of a hold by the grant of an {@link ExclusiveQueue}: what its caller is told, and whether the store has
 * confirmed since that the hold was closed in time. Guarded by the queue's mutex.
 */
final class LastClose {
    private final EngineContext context;
    private final GrantState state;
    private final TokenBlock tokens;
    private long at;
    /** For the caller while it is open what becomes of the grant: was it given back? */
    private @Nullable CompletableFuture<Boolean> asked;

    LastClose(EngineContext context, GrantState state, TokenBlock tokens) {
        this.context = context;
        this.state = state;
        this.tokens = tokens;
    }

    /**
     * A hold is closed now.
     *
     * @param givenBack is completed once it is decided what becomes of the grant
     */
    void begin(CompletableFuture<Boolean> givenBack) {
        at = context.time().nanoTime();
        asked = givenBack;
    }

    /** It is decided what becomes of the grant. */
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
     * The hold closed last, if the store has not confirmed the grant since: only then is it not known whether it was closed
     * in time where the store has the grant no more.
     */
    @Nullable
    HoldState unconfirmed() {
        return at - state.provedAt() < 0 ? null : tokens.lastHold();
    }

    /** Of a retained grant no release says that the store had it no more when the last hold was closed. */
    Runnable tellUnnoticed(Loss.Cause cause) {
        HoldState last = unconfirmed();
        return last == null
                ? NOTHING
                : () -> context.telemetry()
                        .lostUnnoticed(last, new Loss(last.name, last.token, cause, context.description()));
    }
}
