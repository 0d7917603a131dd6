package dev.holdfast.cli;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Keeps Redis's client library from writing to stderr when it connects again, in lines of its own kind that name no
 * lock: what a lost connection does to holds and requests, the library says.
 */
final class LettuceLog {
    /** Kept, since the JDK forgets levels of loggers that nobody holds. */
    private static final List<Logger> SILENT = List.of(Logger.getLogger("io.lettuce"), Logger.getLogger("io.netty"));

    private LettuceLog() {}

    static void silence() {
        SILENT.forEach(logger -> logger.setLevel(Level.OFF));
    }
}
