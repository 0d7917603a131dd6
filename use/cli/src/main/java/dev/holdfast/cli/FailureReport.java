package dev.holdfast.cli;

import dev.holdfast.HoldLostException;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import java.io.PrintStream;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one place where a failure becomes an exit code and a line on stderr. */
final class FailureReport {
    private final HoldfastCommand options;
    private final PrintStream err;

    FailureReport(HoldfastCommand options, PrintStream err) {
        this.options = options;
        this.err = err;
    }

    /** Says what happened and returns the exit code. */
    int report(Throwable failure) {
        int code = exitCode(failure);
        String message = message(failure, code);
        boolean ours = failure instanceof CliException || failure instanceof ParameterException;
        err.println("holdfast: " + (ours ? Redaction.ours(message) : Redaction.oneLine(message)));
        if (options.isVerbose()) {
            explain(failure, code);
        }
        return code;
    }

    private static int exitCode(Throwable failure) {
        if (failure instanceof CliException e) {
            return e.exitCode();
        }
        if (failure instanceof ParameterException || failure instanceof UnsupportedByStoreException) {
            return ExitCode.USAGE;
        }
        if (failure instanceof StoreUnavailableException || failure instanceof StoreRefusedException) {
            return ExitCode.STORE_UNAVAILABLE;
        }
        if (failure instanceof StaleTokenException) {
            return ExitCode.STALE_TOKEN;
        }
        return failure instanceof HoldLostException ? ExitCode.HOLD_LOST : ExitCode.INTERNAL;
    }

    private static String message(Throwable failure, int code) {
        String said = failure.getMessage() == null ? failure.toString() : failure.getMessage();
        if (failure instanceof ParameterException e) {
            String why = unknownCommand(e).orElse(said);
            return why + "; see '" + e.getCommandLine().getCommandSpec().qualifiedName() + " --help'";
        }
        boolean ours = failure instanceof CliException;
        return code == ExitCode.INTERNAL && !ours
                ? "internal error, a bug: " + failure + "; run it again with -v and report what it says"
                : said;
    }

    private static Optional<String> unknownCommand(ParameterException failure) {
        CommandLine at = failure.getCommandLine();
        if (!(failure instanceof UnmatchedArgumentException e)
                || at.getParent() != null
                || e.getUnmatched().isEmpty()
                || e.isUnknownOption()) {
            return Optional.empty();
        }
        String known = at.getSubcommands().entrySet().stream()
                .filter(entry ->
                        !entry.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .collect(Collectors.joining(", "));
        return Optional.of("there is no command '" + e.getUnmatched().get(0) + "'; there are: " + known);
    }

    private void explain(Throwable failure, int code) {
        for (@Nullable Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            err.println("  caused by: " + Redaction.oneLine(cause.toString()));
        }
        if (code == ExitCode.INTERNAL) {
            for (StackTraceElement frame : failure.getStackTrace()) {
                err.println("    at " + frame);
            }
        }
    }
}
