package dev.holdfast.flashsale;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** What was asked for cannot be done now, or not at all; nothing has changed. */
final class Refused extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    Refused(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    static void unless(boolean condition, String otherwise) {
        if (!condition) {
            throw new Refused(otherwise, null);
        }
    }
}
