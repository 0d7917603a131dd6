package dev.holdfast.cli;

import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** One line per warning or error, without secrets. */
final class StderrLogger implements System.Logger {
    /** The library's logger of losses. Each command tells of its loss by itself, with what became of its work. */
    private static final String LOSSES = "dev.holdfast.loss";

    /** What the stores warn of as such, whatever happens: once for an application, too often for a command. */
    private static final String CAVEATS = "dev.holdfast.caveat";

    private static volatile boolean caveats;

    private final String name;

    StderrLogger(String name) {
        this.name = name;
    }

    /** Whether to print what stores warn of as such. */
    static void tellCaveats(boolean wanted) {
        caveats = wanted;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public boolean isLoggable(Level level) {
        return !name.equals(LOSSES)
                && (caveats || !name.equals(CAVEATS))
                && level.getSeverity() >= Level.WARNING.getSeverity()
                && level != Level.OFF;
    }

    @Override
    public void log(
            Level level, @Nullable ResourceBundle bundle, @Nullable String message, @Nullable Throwable thrown) {
        if (isLoggable(level)) {
            String cause = thrown == null ? "" : ": " + thrown;
            System.err.println("holdfast: " + Redaction.oneLine(message + cause));
        }
    }

    @Override
    public void log(
            Level level,
            @Nullable ResourceBundle bundle,
            @Nullable String format,
            @Nullable Object @Nullable ... params) {
        boolean plain = format == null || params == null || params.length == 0;
        log(level, bundle, plain ? format : MessageFormat.format(format, params), (Throwable) null);
    }
}
