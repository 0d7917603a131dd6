package dev.holdfast.spi.support;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Writes to a log of the application, whose handlers may throw: the store's own thread goes on all the same. */
public final class SafeLog {
    private SafeLog() {}

    /** Logs a failure; one of the log itself is not reported. */
    public static void log(Logger logger, Level level, String message, Throwable failure) {
        try {
            logger.log(level, message, failure);
        } catch (Throwable logFailed) {
            // also an Error: a thread that ends by it would leave requests without an answer
        }
    }
}
