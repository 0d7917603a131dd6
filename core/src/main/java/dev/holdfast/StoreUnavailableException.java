package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The store did not answer: unreachable, too slow, full, or in the middle of a failover. Whether the request took effect
 * is unknown; what a failed claim may have left behind is withdrawn, and gone within one lease at the latest. Trying
 * again is reasonable.
 */
public final class StoreUnavailableException extends HoldfastException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public StoreUnavailableException(String message) {
        super(message);
    }

    /** An error with a message and what caused it. */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
