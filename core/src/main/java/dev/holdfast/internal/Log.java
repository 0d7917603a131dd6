package dev.holdfast.internal;

import java.lang.System.Logger.Level;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the library says to people: one line that names lock and store. A log that fails disturbs no lock. */
final class Log {
    private static final System.Logger LOG = System.getLogger("dev.holdfast");

    private Log() {}

    static void warn(Supplier<String> message) {
        warn(message, null);
    }

    static void warn(Supplier<String> message, @Nullable Throwable cause) {
        try {
            if (LOG.isLoggable(Level.WARNING)) {
                LOG.log(Level.WARNING, message.get(), cause);
            }
        } catch (RuntimeException logFailed) {
            // there is no place left to say it
        }
    }
}
