package dev.holdfast.cli;

import dev.holdfast.LockClient;
import dev.holdfast.spi.StoreFence;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast fence}: the check of a fencing token, for scripts. */
@Command(
        name = FenceCommand.NAME,
        description = "Admits a token that is not below the last one; else runs nothing.",
        customSynopsis = "holdfast fence RESOURCE TOKEN [-- CMD [ARG]...]",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "A process that was paused for longer than its lease may continue while another",
            "process holds the lock. Its token is lower than the token of the new holder.",
            "The store keeps the highest token of RESOURCE for ever. A lower token is refused",
            "with 78, and CMD is not run. CMD receives the token as HOLDFAST_TOKEN.",
            "",
            "The check does not detect a process that is paused between the check and the",
            "end of CMD. Check data in a database in its own transaction instead: 'holdfast",
            "schema --fence postgresql' prints the table; docs/sql-data.md has the UPDATE.",
            "",
            "Under 'holdfast run' it must name the same store: by HOLDFAST_STORE, which CMD",
            "receives, or by --store again. HOLDFAST_PASSWORD is not passed on to CMD.",
            "",
            "Exit codes: CMD's own, or 0; 64 usage, 69 store unavailable, 78 stale token,",
            "126 CMD not executable, 127 CMD not found.",
            "",
            "Examples:",
            "  holdfast fence report 1838449839566288896 -- mv report.new report",
            "  holdfast run report -- sh -c 'holdfast fence report $HOLDFAST_TOKEN -- ./send'"
        })
final class FenceCommand implements Callable<Integer> {
    static final String NAME = "fence";
    private static final String TOKEN_VARIABLE = "HOLDFAST_TOKEN";
    private static final int LONGEST_RESOURCE = 255;
    private static final Duration LONG = Duration.ofHours(1);

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Parameters(index = "0", paramLabel = "RESOURCE", description = "What is guarded, such as the name of the lock.")
    private String resource = "";

    @Parameters(index = "1", paramLabel = "TOKEN", description = "The fencing token, as HOLDFAST_TOKEN has it.")
    private String token = "";

    private final List<String> command;

    /**
     * Made before its options are read.
     *
     * @param command what stands behind {@code --}; may be empty
     */
    FenceCommand(List<String> command) {
        this.command = command;
    }

    @Override
    public Integer call() throws InterruptedException {
        StoreUrl store = Objects.requireNonNull(parent).store();
        if (resource.isEmpty() || resource.length() > LONGEST_RESOURCE) {
            throw new CliException(ExitCode.USAGE, "a resource has 1 to " + LONGEST_RESOURCE + " characters");
        }
        check(store, token());
        return command.isEmpty() ? ExitCode.OK : run();
    }

    private long token() {
        try {
            long number = Long.parseLong(token);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new CliException(
                ExitCode.USAGE, "a token is a number from 0 to " + Long.MAX_VALUE + ", such as $HOLDFAST_TOKEN");
    }

    /** The client comes first: it says best why a store is not there, and makes the file of an embedded one. */
    private void check(StoreUrl store, long number) {
        try (LockClient client = store.open("");
                StoreFence fence = store.openFence()) {
            fence.check(resource, number);
        }
    }

    private int run() throws InterruptedException {
        try (SignalRelay signals = SignalRelay.install()) {
            Optional<OsSignal> ended = signals.stopWaiting();
            if (ended.isPresent()) {
                return ExitCode.ofSignal(ended.get().number());
            }
            ChildCommand child = ChildCommand.start(command, Map.of(TOKEN_VARIABLE, token), true, signals::beforeStart);
            signals.attach(child);
            while (!child.awaitEnd(LONG)) {
                // it takes its time
            }
            return child.exitCode();
        }
    }
}
