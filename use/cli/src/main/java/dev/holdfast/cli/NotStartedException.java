package dev.holdfast.cli;

import org.jspecify.annotations.Nullable;

/** The command was never started, so it did nothing. */
final class NotStartedException extends CliException {
    private static final long serialVersionUID = 1L;

    NotStartedException(int exitCode, String message, @Nullable Throwable cause) {
        super(exitCode, message, cause);
    }
}
