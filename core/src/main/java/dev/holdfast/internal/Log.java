package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.Redacted;
import java.lang.System.Logger.Level;
import java.util.function.Supplier;

/**
 * The library's messages to people: each is one line that names lock and store, says what to do, and carries no secret.
 * A log that fails disturbs no lock. Losses have a logger of their own below the other, for applications that report
 * losses themselves.
 */
public final class Log {
    private static final System.Logger LOG = System.getLogger("dev.holdfast");
    private static final System.Logger LOSSES = System.getLogger("dev.holdfast.loss");

    private Log() {}

    /** An event that needs a person's attention. */
    public static void warn(Supplier<String> message) {
        log(LOG, Level.WARNING, message);
    }

    /** An end that was requested is no reason to warn. */
    static void lost(Loss loss) {
        log(LOSSES, loss.cause() == Loss.Cause.FIXED_LEASE_ENDED ? Level.INFO : Level.WARNING, loss::message);
    }

    private static void log(System.Logger logger, Level level, Supplier<String> message) {
        try {
            if (logger.isLoggable(level)) {
                logger.log(level, Redacted.text(message.get()));
            }
        } catch (Throwable logFailed) {
            // also an Error, of a handler: there is no place left to report it, and what comes next must be done
        }
    }
}
