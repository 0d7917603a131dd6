package dev.holdfast.spi;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A claim under way.
 *
 * <p>Thread-safe.
 */
public interface Pending {

    /** A claim that does not wait: it is answered as soon as the store answers, and there is nothing to cancel. */
    static Pending answered(CompletionStage<Optional<Grant>> answer) {
        return new Pending() {
            @Override
            public CompletionStage<Optional<Grant>> answer() {
                return answer;
            }

            @Override
            public void cancel() {}
        };
    }

    /**
     * Completes once: with the grant; with nothing, when the claim does not wait and the names are not free, or when it
     * was cancelled, and then the store no longer holds anything of it; or exceptionally with a
     * {@link dev.holdfast.HoldfastException} when the outcome is unknown, and then the engine sends
     * {@link Store#withdraw}.
     *
     * <p>It may complete on any thread, also inside {@link Store#claim}; the engine's reactions are short and never
     * block.
     */
    CompletionStage<Optional<Grant>> answer();

    /**
     * Asks to stop waiting. The answer still comes, within the store's time-out for requests; a grant that was on its way
     * may win the race. Calling it again, or after the answer, does nothing.
     *
     * <p>A timed wait ends with this answer. It is empty only if the store has confirmed that the claim is gone: then
     * others hold the names. If the store does not answer in time, or cannot be reached, the answer is a
     * {@link dev.holdfast.StoreUnavailableException}.
     */
    void cancel();
}
