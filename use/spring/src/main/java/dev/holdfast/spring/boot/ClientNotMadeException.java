package dev.holdfast.spring.boot;

import dev.holdfast.HoldfastException;
import org.jspecify.annotations.Nullable;

/** A lock client could not be made from the properties; says what to set. Unchecked, as all of Holdfast's are. */
final class ClientNotMadeException extends HoldfastException {
    private static final long serialVersionUID = 1L;
    private final String action;

    ClientNotMadeException(String message, String action) {
        this(message, action, null);
    }

    ClientNotMadeException(String message, String action, @Nullable Throwable cause) {
        super(message, cause);
        this.action = action;
    }

    /** What to do about it. */
    String action() {
        return action;
    }
}
