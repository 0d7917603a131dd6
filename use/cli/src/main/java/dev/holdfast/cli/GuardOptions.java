package dev.holdfast.cli;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of every command that runs another one under a lock, and how such a command refuses wrong ones. */
final class GuardOptions {
    private static final int HIGHEST_EXIT_CODE = 255;

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec spec;

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            defaultValue = "30s",
            converter = DurationConverter.class,
            description = "How long others wait after a crash of holdfast; it renews in time. Default: 30s.")
    private Duration lease = Duration.ZERO;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            defaultValue = "5s",
            converter = DurationConverter.class,
            description = "Time between SIGTERM and SIGKILL when CMD is stopped. Default: 5s.")
    private Duration grace = Duration.ZERO;

    @Option(
            names = "--die-with-parent",
            description = "Let the kernel kill CMD when holdfast itself is killed (Linux).")
    private boolean dieWithParent;

    Duration lease() {
        return lease;
    }

    Duration grace() {
        return grace;
    }

    boolean dieWithParent() {
        return dieWithParent;
    }

    void requireUnix(String otherwise) {
        require(!System.getProperty("os.name", "").startsWith("Windows"), otherwise);
    }

    void requireExitCode(int code) {
        require(code >= 0 && code <= HIGHEST_EXIT_CODE, "an exit code is 0 to 255, not " + code);
    }

    void requireNotNothing(@Nullable Duration limit, String option) {
        require(limit == null || !limit.isZero(), option + " is longer than nothing");
    }

    void require(boolean ok, String otherwise) {
        if (!ok) {
            throw usage(otherwise);
        }
    }

    ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }

    /** An option that was given, as it was written. */
    String asWritten(String option) {
        return ShellWord.of(String.join(
                "",
                Objects.requireNonNull(spec)
                        .commandLine()
                        .getParseResult()
                        .matchedOption(option)
                        .originalStringValues()));
    }
}
