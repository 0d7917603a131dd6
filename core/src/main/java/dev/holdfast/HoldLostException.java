package dev.holdfast;

/**
 * A hold ended otherwise than by its own close, so that what was done under it may have overlapped with another holder.
 * Thrown by {@link Hold#close()}; the work should be checked or undone, unless every write was fenced by the token.
 */
public final class HoldLostException extends HoldfastException {
    private static final long serialVersionUID = 1L;
    private final transient Loss loss;

    /** The exception for a loss. */
    public HoldLostException(Loss loss) {
        super(loss.message());
        this.loss = loss;
    }

    /** The lost lock, and the cause of the loss. */
    public Loss loss() {
        return loss;
    }
}
