package dev.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything Holdfast throws of its own. Unchecked. Messages are one line, name the lock and the store, say
 * what to do next, and hold no secret.
 */
public class HoldfastException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** An error with a message. */
    public HoldfastException(String message) {
        super(message);
    }

    /** An error with a message and what caused it. */
    public HoldfastException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
