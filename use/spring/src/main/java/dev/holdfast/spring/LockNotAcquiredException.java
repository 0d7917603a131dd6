package dev.holdfast.spring;

import dev.holdfast.HoldfastException;
import org.jspecify.annotations.Nullable;

/** A method with {@link HoldLock} did not run, because its lock could not be acquired in time. */
public final class LockNotAcquiredException extends HoldfastException {
    private static final long serialVersionUID = 1L;

    LockNotAcquiredException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
