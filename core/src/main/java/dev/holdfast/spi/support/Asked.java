package dev.holdfast.spi.support;

import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A claim made without an engine, with its answer as a future: for tests of a store.
 *
 * <pre>{@code
 * Asked second = Asked.of(store, claim);
 * second.cancel();
 * assertThat(second.answer().get(5, SECONDS)).isEmpty();
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class Asked implements Pending {
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private volatile Pending pending = BRIEFLY;

    private Asked() {}

    /** Sends a claim to a store. */
    public static Asked of(Store store, Claim claim) {
        return of(store::claim, claim);
    }

    /** The same, to what takes the claims of a store. */
    public static Asked of(BiFunction<Claim, Answer, Pending> store, Claim claim) {
        Asked made = new Asked();
        made.pending = store.apply(claim, new Answer(made::ended));
        return made;
    }

    /** Completes with the grant, with nothing if the claim was refused or called off, or exceptionally. */
    public CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    @Override
    public void cancel() {
        pending.cancel();
    }

    private void ended(@Nullable Grant grant, @Nullable Throwable why) {
        if (why == null) {
            answer.complete(Optional.ofNullable(grant));
        } else {
            answer.completeExceptionally(why);
        }
    }
}
