package dev.holdfast.cli;

import org.jspecify.annotations.Nullable;

/** An end of the command line: the exit code and the one line that explains it and says what to do next. */
sealed class CliException extends RuntimeException permits NotStartedException {
    private static final long serialVersionUID = 1L;
    private final int exitCode;

    CliException(int exitCode, String message) {
        this(exitCode, message, null);
    }

    CliException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
