package dev.holdfast.spi;

/** A claim under way. Thread-safe. */
@FunctionalInterface
public interface Pending {
    /** A claim that does not wait: it is answered as soon as the store answers, and there is nothing to cancel. */
    Pending BRIEFLY = () -> {};

    /**
     * Asks to stop waiting. The {@link Answer} still comes, within the store's time-out for requests; a grant that was on its
     * way may win the race. Calling it again, or after the answer, does nothing.
     *
     * <p>A timed wait ends with this answer. It is {@link Answer#refused} only if the store has confirmed that the claim is
     * gone: then others hold the name. If the store does not answer in time, or cannot be reached, the claim has failed with
     * a {@link dev.holdfast.StoreUnavailableException}.
     */
    void cancel();
}
