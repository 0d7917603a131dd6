package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The store answered and refused: missing rights, data of another shape, a newer layout, or another kind of server.
 * Trying again changes nothing; the message says what would help.
 */
public final class StoreRefusedException extends HoldfastException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public StoreRefusedException(String message) {
        super(message);
    }

    /** An error with a message and what caused it. */
    public StoreRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
