package dev.holdfast.cli;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast run}: what was asked for, checked; {@link GuardedRun} does it. */
@Command(
        name = RunCommand.NAME,
        description = "Holds a lock while a command runs, and exits with the command's code.",
        customSynopsis = "holdfast run [OPTION]... NAME... -- CMD [ARG]...",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "CMD keeps the terminal, stdin, stdout and stderr, gets the signals, and sees",
            "HOLDFAST_NAME, HOLDFAST_TOKEN (rises with every hold) and HOLDFAST_HOLD_ID.",
            "When the hold is lost, CMD and its descendants are stopped.",
            "",
            "Several NAMEs are held all together or not at all, in one order for everybody;",
            "the three variables then have a line for each, in the order of the NAMEs, and",
            "the loss of one is the loss of all.",
            "",
            "Exit codes: CMD's own; 64 usage, 69 store unavailable, 75 not acquired in time,",
            "79 hold lost or --max-hold over, and CMD stopped, 126 CMD not executable, 127",
            "CMD not found.",
            "",
            "Examples:",
            "  holdfast run nightly-backup -- ./backup.sh --full",
            "  holdfast run -n deploy -- make deploy                (only if it is free now)",
            "  holdfast run --wait 30s -E 0 cron -- ./job.sh        (a busy lock is no error)",
            "  holdfast run counter -- sh -c 'n=$(cat n); echo $((n + 1)) > n'",
            "  holdfast run --shared site -- ./read.sh              (others may read as well)",
            "  holdfast run --permits 1/4 encode -- ./encode.sh     (four at a time)",
            "  holdfast run account:3 account:7 -- ./transfer.sh    (both, or none)"
        })
final class RunCommand implements Callable<Integer> {
    static final String NAME = "run";

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Option(
            names = {"-s", "--shared"},
            description = "Hold it to read: together with others who do, and with no one else.")
    private boolean shared;

    @Option(
            names = "--permits",
            paramLabel = "N/M",
            converter = PermitsConverter.class,
            description = "Hold N of M permits of it, as 1/4: so many run at once.")
    private Mode.@Nullable Permits permits;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "Give up after this time; a bare number is seconds, 0 tries once. Default: wait for ever.")
    private @Nullable Duration wait;

    @Option(names = "-n", description = "Try once, as --wait 0.")
    private boolean once;

    @Mixin
    private final GuardOptions guard = new GuardOptions();

    @Option(
            names = "--max-hold",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "Stop CMD when it has held the lock for this time. Default: never.")
    private @Nullable Duration maxHold;

    @Option(names = "--fifo", description = "Strictly in order of arrival.")
    private boolean fifo;

    @Option(
            names = {"-E", "--conflict-exit-code"},
            paramLabel = "N",
            defaultValue = "" + ExitCode.NOT_ACQUIRED,
            description = "Exit with N when the lock was not acquired in time. Default: 75.")
    private int conflictExitCode;

    @Parameters(paramLabel = "NAME", hideParamSyntax = true, arity = "0..*", description = "What to hold.")
    private List<String> names = List.of();

    private final List<String> command;

    /**
     * Made before its options are read.
     *
     * @param command what stands behind {@code --}
     */
    RunCommand(List<String> command) {
        this.command = command;
    }

    @Override
    public Integer call() throws InterruptedException {
        guard.requireUnix(
                "'run' needs a Unix: Windows has no SIGTERM, by which a command is asked to end when its lock is lost;"
                        + " use the Windows Subsystem for Linux, or lock in the program itself by the library");
        Wanted wanted = wanted();
        guard.requireExitCode(conflictExitCode);
        guard.require(!once || wait == null, "-n tries once, and --wait says how long; give one of them");
        guard.requireNotNothing(maxHold, "--max-hold");
        StoreUrl store = Objects.requireNonNull(parent).store();
        Duration patience = once ? Duration.ZERO : wait;
        return new GuardedRun(
                        store,
                        wanted,
                        options(),
                        command,
                        patience,
                        guard.grace(),
                        maxHold,
                        "--max-hold",
                        guard.dieWithParent(),
                        conflictExitCode)
                .call();
    }

    private Wanted wanted() {
        guard.require(!names.isEmpty(), "which lock? Give its name before '--'");
        requireCommand();
        guard.require(
                !shared || permits == null, "--shared and --permits are two ways to hold a name; give one of them");
        guard.require(
                names.size() == 1 || !shared && permits == null,
                "with " + (shared ? "--shared" : "--permits") + " one name can be held, not " + names.size()
                        + "; several are held exclusively");
        requireDifferentNames();
        Mode mode = shared ? Mode.SHARED : Mode.EXCLUSIVE;
        return new Wanted(List.copyOf(names), permits == null ? mode : permits);
    }

    private void requireCommand() {
        String name = names.get(0);
        guard.require(
                !command.isEmpty() || names.size() == 1,
                "put '--' between what to hold and the command: holdfast run " + name + " -- "
                        + String.join(" ", names.subList(1, names.size())));
        guard.require(!command.isEmpty(), "nothing to run; put it behind '--': holdfast run " + name + " -- CMD");
    }

    private void requireDifferentNames() {
        Set<String> seen = new HashSet<>();
        for (String name : names) {
            guard.require(seen.add(name), "the name '" + name + "' is given twice; once is enough");
        }
    }

    private HoldOptions options() {
        try {
            return HoldOptions.defaults().lease(guard.lease()).strictFifo(fifo).awaitRelease(true);
        } catch (IllegalArgumentException e) {
            throw guard.usage("--lease is 100ms to 168h, not " + guard.asWritten("--lease"));
        }
    }
}
