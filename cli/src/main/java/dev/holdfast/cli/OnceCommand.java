package dev.holdfast.cli;

import dev.holdfast.HoldOptions;
import dev.holdfast.OnceOptions;
import dev.holdfast.Schedule;
import dev.holdfast.recipes.CronSchedule;
import dev.holdfast.spi.Mode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** {@code holdfast once}: what was asked for, checked; {@link OnceRunner} does it. */
@Command(
        name = OnceCommand.NAME,
        description = "Runs a command unless another process has run it in this period.",
        customSynopsis = {
            "holdfast once --every TIME [OPTION]... NAME -- CMD [ARG]...",
            "holdfast once --cron TIMES [--zone ZONE] [OPTION]... NAME -- CMD [ARG]..."
        },
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "All machines call it, each from its own cron or timer: one runs CMD, the others",
            "skip it and say so on stderr. The store's clock decides which period it is, the",
            "clocks of the machines do not. A period counts as done when CMD has ended",
            "with 0. What ran last, where, and how it ended: 'holdfast list --once'.",
            "",
            "CMD runs under the lock NAME as with 'holdfast run', and sees the same variables.",
            "",
            "Exit codes: CMD's own; 0 skipped (or --skip-code); 64 usage, 69 store",
            "unavailable, 79 hold lost or --at-most over, and CMD stopped, 126 CMD not",
            "executable, 127 CMD not found.",
            "",
            "Examples:",
            "  holdfast once --every 10m report -- ./report.sh",
            "  holdfast once --every 24h --offset 3h --at-most 1h backup -- ./backup.sh",
            "  holdfast once --every 1h --no-retry invoices -- ./send-invoices.sh",
            "  holdfast once --cron '0 3 * * *' --zone Europe/Berlin backup -- ./backup.sh"
        })
final class OnceCommand implements Callable<Integer> {
    static final String NAME = "once";
    private static final String EVERY = "--every";
    private static final String CRON = "--cron";
    private static final int HIGHEST_EXIT_CODE = 255;

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = EVERY,
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "The period, from 100ms on; counted from midnight UTC of 1970-01-01.")
    private @Nullable Duration every;

    @Option(
            names = CRON,
            paramLabel = "TIMES",
            description = "Periods begin at these times, five fields as in a crontab: '0 3 * * *'.")
    private @Nullable String cron;

    @Option(
            names = "--zone",
            paramLabel = "ZONE",
            description = "Whose clocks --cron means, such as Europe/Berlin. Default: UTC.")
    private @Nullable String zone;

    @Option(
            names = "--offset",
            paramLabel = "TIME",
            defaultValue = "0",
            converter = DurationConverter.class,
            description = "Periods begin this much later. Default: 0.")
    private Duration offset = Duration.ZERO;

    @Option(
            names = "--at-most",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "Stop CMD when it has run for this time. Default: never.")
    private @Nullable Duration atMost;

    @Option(
            names = "--at-least",
            paramLabel = "TIME",
            defaultValue = "0",
            converter = DurationConverter.class,
            description = "Skip if the last run began less than this time ago. Default: 0.")
    private Duration atLeast = Duration.ZERO;

    @Option(names = "--no-retry", description = "Do not run it again in a period in which it failed or was cut short.")
    private boolean noRetry;

    @Option(
            names = "--skip-code",
            paramLabel = "N",
            defaultValue = "0",
            description = "Exit with N when it was skipped. Default: 0.")
    private int skipCode;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "TIME",
            defaultValue = "0",
            converter = DurationConverter.class,
            description = "Wait this long for a process that runs it, to take its place should it die. Default: 0.")
    private Duration wait = Duration.ZERO;

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            defaultValue = "30s",
            converter = DurationConverter.class,
            description = "How long after a crash of holdfast another may run it. Default: 30s.")
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

    @Parameters(paramLabel = "NAME", hideParamSyntax = true, arity = "0..*", description = "What is run.")
    private List<String> names = List.of();

    private final List<String> command;

    /**
     * Made before its options are read.
     *
     * @param command what stands behind {@code --}
     */
    OnceCommand(List<String> command) {
        this.command = command;
    }

    @Override
    public Integer call() throws InterruptedException {
        require(
                !System.getProperty("os.name", "").startsWith("Windows"),
                "'once' needs a Unix, as 'run' does; use the library, or the Windows Subsystem for Linux");
        require(!names.isEmpty(), "what is run? Give its name before '--'");
        require(
                names.size() == 1,
                "one name can be run once, not " + names.size()
                        + "; put '--' before the command: holdfast once " + asWritten() + " " + names.get(0)
                        + " -- " + String.join(" ", names.subList(1, names.size())));
        require(
                !command.isEmpty(),
                "nothing to run; put it behind '--': holdfast once " + asWritten() + " " + names.get(0) + " -- CMD");
        require(skipCode >= 0 && skipCode <= HIGHEST_EXIT_CODE, "an exit code is 0 to 255, not " + skipCode);
        require(atMost == null || !atMost.isZero(), "--at-most is longer than nothing");
        OnceOptions options = options();
        GuardedRun run = new GuardedRun(
                Objects.requireNonNull(parent).store(),
                new Wanted(names, Mode.EXCLUSIVE),
                HoldOptions.defaults().lease(lease),
                command,
                wait,
                grace,
                atMost,
                "--at-most",
                dieWithParent,
                skipCode);
        return new OnceRunner(run, names.get(0), options, skipCode).call();
    }

    private OnceOptions options() {
        try {
            return OnceOptions.on(schedule())
                    .atLeast(atLeast)
                    .lease(lease)
                    .retryFailed(!noRetry)
                    .retryCrashed(!noRetry);
        } catch (IllegalArgumentException e) {
            throw usage(String.valueOf(e.getMessage()));
        }
    }

    private Schedule schedule() {
        if (every != null) {
            require(cron == null && zone == null, "--every excludes --cron and --zone");
            return Schedule.every(every, offset);
        }
        require(cron != null, "missing required option: '--every=TIME', or '--cron=TIMES'");
        require(offset.isZero(), "--offset goes with --every; write the times into --cron");
        try {
            return CronSchedule.of(Objects.requireNonNull(cron), zone == null ? ZoneOffset.UTC : ZoneId.of(zone));
        } catch (DateTimeException e) {
            throw usage("there is no time zone '" + zone + "'; write one such as Europe/Berlin or UTC");
        }
    }

    private String asWritten() {
        String option = cron != null ? CRON : EVERY;
        ParseResult parsed = Objects.requireNonNull(spec).commandLine().getParseResult();
        return option + " "
                + (parsed.hasMatchedOption(option)
                        ? ShellWord.of(
                                String.join("", parsed.matchedOption(option).originalStringValues()))
                        : "TIME");
    }

    private void require(boolean ok, String otherwise) {
        if (!ok) {
            throw usage(otherwise);
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }
}
