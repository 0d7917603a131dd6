package dev.holdfast.cli;

import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.OnceRun;
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

/** {@code holdfast list}: who holds what, and who waits. */
@Command(
        name = "list",
        description = "Lists the locks that are held or waited for.",
        customSynopsis = "holdfast list [OPTION]... [PATTERN]",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "Quote the pattern, so that the shell leaves it alone.",
            "",
            "Examples:",
            "  holdfast list",
            "  holdfast list 'order:*'",
            "  holdfast list --watch",
            "  holdfast list --once",
            "  holdfast list --json | jq '.[] | select(.waiting > 0)'"
        })
final class ListCommand implements Callable<Integer> {
    private static final String EVERYTHING = "*";

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(
            arity = "0..*",
            paramLabel = "PATTERN",
            hideParamSyntax = true,
            description = "Which names: * stands for any characters, ? for one. Default: all.")
    private List<String> patterns = List.of();

    @Option(names = "--json", description = "Print a JSON array.")
    private boolean json;

    @Option(names = "--once", description = "List what ran last by 'holdfast once': where, when, and how it ended.")
    private boolean once;

    @Option(names = "--watch", description = "List again and again, until Ctrl-C; with --json an array a line.")
    private boolean watch;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = PeriodConverter.class,
            description = "With --watch, the time between two lists, at least 100ms. Default: 1s.")
    private Duration every = Duration.ZERO;

    @Override
    public Integer call() throws InterruptedException {
        StoreUrl store = Objects.requireNonNull(parent).store();
        String pattern = pattern();
        if (once) {
            return once(store, pattern);
        }
        if (watch) {
            return watch(store, pattern);
        }
        boolean absent = store.isAbsentFile(); // a list makes no file
        boolean countsWaiters = true;
        List<LockStatus> locks = List.of();
        String shown = store.shown();
        if (!absent) {
            try (LockClient client = store.open("")) {
                locks = client.list(pattern);
                countsWaiters = client.capabilities().countsWaiters();
                shown = shown(store, client);
            }
        }
        if (json) {
            print(locks, countsWaiters);
        } else if (!locks.isEmpty()) {
            System.out.print(LockView.table(locks, countsWaiters));
            if (!countsWaiters) {
                System.err.println("holdfast: " + Snapshot.Waiters.UNKNOWN.note);
            }
            if (!shown.equals(store.shown())) {
                System.err.println("holdfast: " + Redaction.ours("these locks are on " + shown));
            }
        }
        if (locks.isEmpty()) {
            String which = pattern.equals(EVERYTHING) ? "no lock" : "no lock that matches '" + pattern + "'";
            String why = absent ? ": that file does not exist, so no lock was acquired in it yet" : "";
            System.err.println("holdfast: " + Redaction.ours(which + " is held on " + shown + why));
        }
        return ExitCode.OK;
    }

    private int once(StoreUrl store, String pattern) {
        if (watch) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "--once and --watch do not go together; leave one out");
        }
        List<OnceRun> runs = List.of();
        OnceView view = new OnceView(List.of(), List.of());
        if (!store.isAbsentFile()) {
            try (LockClient client = store.open("")) {
                view = new OnceView(client.onceRuns(pattern), client.list(pattern));
                runs = client.onceRuns(pattern);
            }
        }
        if (json) {
            System.out.println(Json.of(runs.stream().map(view::json).toList()));
        } else if (!runs.isEmpty()) {
            System.out.print(view.table(runs));
        }
        if (runs.isEmpty()) {
            System.err.println("holdfast: "
                    + Redaction.ours("nothing is recorded on " + store.shown() + " that 'holdfast once' has run"
                            + (pattern.equals(EVERYTHING) ? "" : " as '" + pattern + "'")));
        }
        return ExitCode.OK;
    }

    /** One client for all lists; a file that is not there yet is one without locks. */
    private int watch(StoreUrl store, String pattern) throws InterruptedException {
        while (store.isAbsentFile()) {
            if (json && !print(List.of(), true)) {
                return ExitCode.OK;
            }
            TimeUnit.NANOSECONDS.sleep(every.toNanos());
        }
        try (LockClient client = store.open("");
                @Nullable Screen screen = json ? null : Screen.open()) {
            boolean isRead = true;
            while (isRead) {
                isRead = screen == null
                        ? print(client.list(pattern), client.capabilities().countsWaiters())
                        : screen.drawFromStore(() -> frame(client, store, pattern));
                TimeUnit.NANOSECONDS.sleep(every.toNanos());
            }
        }
        return ExitCode.OK;
    }

    /** As JSON; false if nobody reads it. */
    private static boolean print(List<LockStatus> locks, boolean countsWaiters) {
        System.out.println(Json.of(
                locks.stream().map(lock -> LockView.json(lock, countsWaiters)).toList()));
        return !System.out.checkError();
    }

    private static List<String> frame(LockClient client, StoreUrl store, String pattern) {
        List<LockStatus> locks = client.list(pattern);
        return locks.isEmpty()
                ? List.of("no lock is held on " + shown(store, client))
                : LockView.table(locks, client.capabilities().countsWaiters())
                        .lines()
                        .toList();
    }

    /** The URL, and what the store has found where it leaves something open, such as the table. */
    private static String shown(StoreUrl store, LockClient client) {
        return client.store().startsWith(store.shown()) ? client.store() : store.shown();
    }

    private String pattern() {
        if (patterns.size() > 1) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    "list takes one PATTERN, not " + patterns.size()
                            + "; quote it, or the shell puts the names of files in its place: holdfast list 'order:*'");
        }
        return patterns.isEmpty() ? EVERYTHING : patterns.get(0);
    }
}
