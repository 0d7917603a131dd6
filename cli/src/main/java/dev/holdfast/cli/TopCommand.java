package dev.holdfast.cli;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast top}: who holds what and who waits behind whom, again and again. */
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
            "waiting is named: nobody in it will ever get on. Ctrl-C ends it. Without a",
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
            description = "The time between two looks. Default: 1s.")
    private Duration every = Duration.ZERO;

    @Option(
            names = "--count",
            paramLabel = "N",
            description = "End after N looks. Default: never on a terminal, else 1.")
    private @Nullable Integer count;

    @Option(names = "--json", description = "Print a JSON object a line for each look.")
    private boolean json;

    private final SeenHistory seen = new SeenHistory();

    @Override
    public Integer call() throws InterruptedException {
        StoreUrl store = Objects.requireNonNull(parent).store();
        if (store.isAbsentFile()) {
            System.err.println("holdfast: "
                    + Redaction.ours("no lock is held on " + store.shown()
                            + ": that file is not there, so nobody has taken a lock in it yet"));
            return ExitCode.OK;
        }
        try (LockClient client = store.open("");
                @Nullable Screen screen = json ? null : Screen.open()) {
            boolean isLive = screen != null && screen.isTerminal();
            long looks = count != null ? count : isLive ? Long.MAX_VALUE : 1;
            boolean isRead = true;
            for (long look = 1; isRead && look <= looks; look++) {
                isRead = look(client, store, Optional.ofNullable(screen));
                if (look < looks && isRead) {
                    TimeUnit.NANOSECONDS.sleep(every.toNanos());
                }
            }
        }
        return ExitCode.OK;
    }

    /** One look; false if nobody reads what is printed. On a screen an outage is shown, and the next look tries again. */
    private boolean look(LockClient client, StoreUrl store, Optional<Screen> screen) {
        List<String> frame = new ArrayList<>();
        try {
            Snapshot snapshot = Snapshot.of(client, pattern);
            List<List<String>> circles = Circles.in(snapshot);
            seen.add(
                    snapshot,
                    BreakJournal.ofUser()
                            .map(journal -> journal.on(store.shown()))
                            .orElse(List.of()));
            if (screen.isEmpty()) {
                System.out.println(Json.of(TopView.json(store.shown(), snapshot, circles, seen)));
                return !System.out.checkError();
            }
            frame = TopView.lines(
                    store.shown(), snapshot, circles, seen, screen.get().lines());
        } catch (HoldfastException e) {
            if (screen.isEmpty() || !screen.get().isTerminal()) {
                throw e;
            }
            frame.add(Redaction.oneLine(String.valueOf(e.getMessage())));
        }
        return screen.orElseThrow().draw(frame);
    }
}
