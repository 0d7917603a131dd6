package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.Redacted;
import java.lang.System.Logger.Level;
import java.util.function.Supplier;

/**
 * What the library says to people: one line that names lock and store, says what to do, and carries no secret. A log
 * that fails disturbs no lock. Losses have a logger of their own below the other, for those who tell of them themselves.
 */
final class Log {
    private static final System.Logger LOG = System.getLogger("dev.holdfast");
    private static final System.Logger LOSSES = System.getLogger("dev.holdfast.loss");

    private Log() {}

    static void warn(Supplier<String> message) {
        say(LOG, message);
    }

    static void lost(Loss loss) {
        say(LOSSES, loss::message);
    }

    private static void say(System.Logger logger, Supplier<String> message) {
        try {
            if (logger.isLoggable(Level.WARNING)) {
                logger.log(Level.WARNING, Redacted.text(message.get()));
            }
        } catch (RuntimeException logFailed) {
            // there is no place left to say it
        }
    }
}
