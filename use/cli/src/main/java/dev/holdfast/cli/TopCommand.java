package dev.holdfast.cli;

import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code holdfast top}: the holders and the queues of waiters, live. */
@Command(
        name = "top",
        description = "Shows the locks that matter most, live: holders, queues, circles, history.",
        customSynopsis = "holdfast top [OPTION]... [PATTERN]",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "The locks with the most waiters for the longest time come first. '!' marks a",
            "hold three times as long as was usual since top was started. A circle of",
            "waiting is named: no process in it can continue. Ctrl-C ends top. Without a",
            "terminal it prints once.",
            "",
            "Examples:",
            "  holdfast top",
            "  holdfast top --every 5s 'order:*'",
            "  holdfast top --json | jq '.circles'"
        })
final class TopCommand implements Callable<Integer> {
    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Parameters(
            arity = "0..1",
            paramLabel = "PATTERN",
            hideParamSyntax = true,
            defaultValue = "*",
            description = "Which names: * stands for any characters, ? for one. Default: all.")
    private String pattern = "*";

    @Option(
            names = "--every",
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = PeriodConverter.class,
            description = "The time between two reads of the store, at least 100ms. Default: 1s.")
    private Duration every = Duration.ZERO;

    @Option(
            names = "--count",
            paramLabel = "N",
            description = "End after N reads. Default: never on a terminal, else 1.")
    private @Nullable Integer count;

    @Option(names = "--json", description = "Print one JSON object per line for each read.")
    private boolean json;

    @Spec
    private @Nullable CommandSpec spec;

    private final SeenHistory seen = new SeenHistory();

    @Override
    public Integer call() throws InterruptedException {
        if (count != null && count < 1) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "--count is at least 1, not " + count);
        }
        StoreUrl store = Objects.requireNonNull(parent).store();
        if (store.isAbsentFile()) {
            if (json) {
                print(store, Snapshot.empty());
            }
            System.err.println("holdfast: "
                    + Redaction.ours("no lock is held on " + store.shown()
                            + ": that file does not exist, so no lock was acquired in it yet"));
            return ExitCode.OK;
        }
        try (LockClient client = store.open("");
                @Nullable Screen screen = json ? null : Screen.open()) {
            boolean isLive = screen != null && screen.isTerminal();
            long reads = count != null ? count : isLive ? Long.MAX_VALUE : 1;
            boolean isRead = true;
            for (long read = 1; isRead && read <= reads; read++) {
                isRead = show(client, store, screen);
                if (read < reads && isRead) {
                    TimeUnit.NANOSECONDS.sleep(every.toNanos());
                }
            }
        }
        return ExitCode.OK;
    }

    /** Shows the store's state once; false if nobody reads what is printed. */
    private boolean show(LockClient client, StoreUrl store, @Nullable Screen screen) {
        if (screen != null) {
            return screen.drawFromStore(() -> {
                Snapshot snapshot = read(client, store);
                return TopView.lines(store.shown(), snapshot, Circles.in(snapshot), seen, screen.lines());
            });
        }
        print(store, read(client, store));
        return !System.out.checkError();
    }

    private void print(StoreUrl store, Snapshot snapshot) {
        System.out.println(Json.of(TopView.json(store.shown(), snapshot, Circles.in(snapshot), seen)));
    }

    /** What the store knows, which is added to the history. */
    private Snapshot read(LockClient client, StoreUrl store) {
        Snapshot snapshot = Snapshot.of(client, pattern);
        seen.add(
                snapshot,
                BreakJournal.ofUser().map(journal -> journal.on(store.shown())).orElse(List.of()));
        return snapshot;
    }
}
