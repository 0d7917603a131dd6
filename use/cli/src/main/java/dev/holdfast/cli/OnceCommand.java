package dev.holdfast.cli;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Once;
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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast once}: reads and checks the arguments; {@link OnceRunner} does it. */
@Command(
        name = OnceCommand.NAME,
        description = "Runs a command unless another process has run it in this period.",
        customSynopsis = {
            "holdfast once --every TIME [OPTION]... NAME -- CMD [ARG]...",
            "holdfast once --cron TIMES [--zone ZONE] [OPTION]... NAME -- CMD [ARG]...",
            "holdfast once --forget NAME"
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
            "CMD runs under the lock NAME as with 'holdfast run', with the same variables.",
            "",
            "Exit codes: CMD's own; 0 skipped (or --skip-code); 64 usage, 69 store",
            "unavailable (the message says whether CMD ran), 75 --forget while it runs, 79",
            "hold lost or --at-most over, and CMD stopped, 126 CMD not executable, 127 CMD",
            "not found.",
            "",
            "Examples:",
            "  holdfast once --every 10m report -- ./report.sh",
            "  holdfast once --every 24h --offset 3h --at-most 1h backup -- ./backup.sh",
            "  holdfast once --every 1h --no-retry invoices -- ./send-invoices.sh",
            "  holdfast once --cron '0 3 * * *' --zone Europe/Berlin backup -- ./backup.sh",
            "  holdfast once --forget report                        (the next one runs it)"
        })
final class OnceCommand implements Callable<Integer> {
    static final String NAME = "once";
    private static final String EVERY = "--every";
    private static final String CRON = "--cron";

    @ParentCommand
    private @Nullable HoldfastCommand parent;

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
            description = "Time zone of --cron, such as Europe/Berlin. Default: UTC.")
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

    @Mixin
    private final GuardOptions guard = new GuardOptions();

    @Option(
            names = "--forget",
            description = "Run nothing; forget the last run, so that the next one that asks runs CMD.")
    private boolean forget;

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
        StoreUrl store = Objects.requireNonNull(parent).store();
        if (forget) {
            return forget(store);
        }
        guard.requireUnix("'once' needs a Unix, as 'run' does; use the library, or the Windows Subsystem for Linux");
        guard.require(
                every != null || cron != null,
                "how often? Give the period, for example --every 10m, or --cron '0 3 * * *'");
        guard.require(
                cron == null || cron.isBlank() || cron.strip().indexOf(' ') > 0,
                "--cron takes its five fields as one word; put them in quotes: --cron '0 3 * * *'");
        guard.require(!names.isEmpty(), "the work has no name. Give its name before '--', such as: backup -- CMD");
        String often = cron != null ? CRON : EVERY;
        String start = "holdfast once " + often + " " + guard.asWritten(often) + " " + names.get(0) + " -- ";
        guard.require(
                names.size() == 1,
                "'once' takes one name, not " + names.size() + "; put '--' before the command: " + start
                        + String.join(" ", names.subList(1, names.size())));
        guard.require(!command.isEmpty(), "nothing to run; put it behind '--': " + start + "CMD");
        guard.requireExitCode(skipCode);
        guard.requireNotNothing(atMost, "--at-most");
        OnceOptions options = options();
        GuardedRun run = new GuardedRun(
                store,
                new Wanted(names, Mode.EXCLUSIVE),
                HoldOptions.defaults().lease(guard.lease()),
                command,
                wait,
                guard.grace(),
                atMost,
                "--at-most",
                guard.dieWithParent(),
                skipCode);
        return new OnceRunner(run, names.get(0), options, skipCode).call();
    }

    private int forget(StoreUrl store) {
        guard.require(
                names.size() == 1 && command.isEmpty() && every == null && cron == null,
                "--forget takes one name and nothing else: holdfast once --forget NAME");
        String name = names.get(0);
        guard.require(!name.isEmpty(), "a name must not be empty");
        if (!store.isAbsentFile()) {
            try (LockClient client = store.open("")) {
                if (!once(client, name).forget()) {
                    throw new CliException(
                            ExitCode.NOT_ACQUIRED,
                            "'" + name + "' on " + store.shown() + " is running, or its lock is held; nothing was"
                                    + " forgotten; see '" + store.listCommand() + "', and try again when it is free");
                }
            }
        }
        System.err.println("holdfast: "
                + Redaction.ours("no run of '" + name + "' is recorded on " + store.shown()
                        + " any more; the next process that asks runs it"));
        return ExitCode.OK;
    }

    private Once once(LockClient client, String name) {
        try {
            return client.once(name);
        } catch (IllegalArgumentException e) {
            throw guard.usage(String.valueOf(e.getMessage()));
        }
    }

    private OnceOptions options() {
        try {
            return OnceOptions.on(schedule())
                    .atLeast(atLeast)
                    .lease(guard.lease())
                    .retryFailed(!noRetry)
                    .retryCrashed(!noRetry);
        } catch (IllegalArgumentException e) {
            throw guard.usage(String.valueOf(e.getMessage()));
        }
    }

    private Schedule schedule() {
        if (every != null) {
            guard.require(cron == null && zone == null, "--every excludes --cron and --zone");
            return Schedule.every(every, offset);
        }
        guard.require(offset.isZero(), "--offset goes with --every; write the times into --cron");
        try {
            return CronSchedule.of(Objects.requireNonNull(cron), zone == null ? ZoneOffset.UTC : ZoneId.of(zone));
        } catch (DateTimeException e) {
            throw guard.usage("there is no time zone '" + zone + "'; write one such as Europe/Berlin or UTC");
        }
    }
}
