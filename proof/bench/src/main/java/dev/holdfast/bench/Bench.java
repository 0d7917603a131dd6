package dev.holdfast.bench;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.JsonFile;
import dev.holdfast.bench.report.MeasuredPage;
import dev.holdfast.bench.report.Terminal;
import dev.holdfast.bench.run.CommandLineFigures;
import dev.holdfast.bench.run.Plan;
import dev.holdfast.bench.run.Progress;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Workload.Tier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** {@code ./holdfast bench}: Holdfast beside its peers, in one run. */
@Command(
        name = "holdfast bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures Holdfast and the libraries its users would otherwise pick, on the same real servers in one run."
        },
        footer = {
            "",
            "A run without --quick and --workload writes what it measured to docs/measured: STORE.tsv for each store,"
                    + " and index.html, a page of all. Every run writes the same, and all figures as JSON, to"
                    + " target/bench. Exits with 1 when a round failed or a lock did not exclude.",
            "",
            "Examples:",
            "  holdfast bench --quick",
            "  holdfast bench --only redis,sqlite",
            "  holdfast bench --workload service",
            "  holdfast bench --only redis --workload own-1,one-2x16",
            "  holdfast bench --only postgresql --workload soak --soak 60",
            "  holdfast bench pictures                      (pictures and page again)",
            "  holdfast bench jmh OneLockSixteenThreads     (by JMH, whose options follow)",
            "  holdfast bench recipes                       (split stock, single flight)",
            "  holdfast bench retain                        (retained locks, and rivals)",
            "  holdfast bench free-lock                     (a free lock, step by step)",
            "  holdfast bench memcached                     (a free lock beside bare add)",
            "  holdfast bench etcd                          (members cut off, leaders killed)",
            "  holdfast bench writers                       (one row, more and more writers)",
            "  holdfast bench quorum                        (five Redis servers, RedLock)",
            "  holdfast bench cluster                       (three masters, one server)",
            "  holdfast bench writes                        (what a lock writes and leaves)",
            "  holdfast bench long                          (a week, a year: what grows)"
        })
public final class Bench implements Callable<Integer> {
    private static final int USAGE = 64;

    @Option(names = "--quick", description = "at most 3 minutes: few and short rounds, to see that everything works")
    private boolean quick;

    @Option(names = "--full", description = "every workload, long rounds: some hours")
    private boolean full;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "STORE",
            description = "only these: mem, sqlite, redis, zookeeper, etcd, mariadb, postgresql")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--workload",
            split = ",",
            paramLabel = "ID",
            description = "only these, whatever their place, and no other figures; service stands for all that begin"
                    + " with it: ${COMPLETION-CANDIDATES}",
            completionCandidates = WorkloadIds.class)
    private List<String> workloads = new ArrayList<>();

    @Option(
            names = "--soak",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "how long a soak goes on; default 600")
    private int soak;

    @Option(names = "--out", paramLabel = "FOLDER", description = "where the files go; default target/bench")
    private @Nullable Path out;

    /** Runs it. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Bench())
                .setParameterExceptionHandler((error, arguments) -> {
                    System.err.println("holdfast bench: " + error.getMessage() + " (--help tells more)");
                    return USAGE;
                })
                .execute(args));
    }

    @Override
    public Integer call() throws IOException {
        Plan plan = plan();
        Selection selection;
        try {
            selection = Selection.of(plan, only, workloads);
        } catch (IllegalArgumentException e) {
            throw misused(String.valueOf(e.getMessage()));
        }
        if (soak < 1) {
            throw misused("--soak is a number of seconds, at least 1");
        }
        Run run = new Run(plan, selection, Duration.ofSeconds(soak));
        TemporaryFolder.use(folder -> {
            run.measure(folder);
            if (selection.whole() && selection.stores().contains(StoreKind.SQLITE)) {
                commandLine(plan, folder, run.results(), run.progress());
            }
        });
        Results results = run.results();
        Terminal.print(results, System.out);
        write(results, selection);
        return results.isSound() ? 0 : 1;
    }

    private static void commandLine(Plan plan, Path scratch, Results results, Progress progress) {
        home().ifPresent(home -> {
            try {
                CommandLineFigures figures = new CommandLineFigures(home, results, progress);
                figures.runTrue(scratch);
                if (plan.tier() == Tier.FULL) {
                    figures.cloneToDemo(scratch);
                }
            } catch (AssertionError e) {
                progress.say("    FAILED: " + e.getMessage());
                results.leaveOut("Command line: FAILED: "
                        + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            }
        });
    }

    private void write(Results results, Selection selection) throws IOException {
        Path folder = out != null ? out : home().orElse(Path.of("")).resolve("target/bench");
        Files.createDirectories(folder);
        JsonFile.write(folder.resolve("results.json"), results);
        Path measured = folder.resolve("measured");
        MeasuredPage.write(measured, results, selection.stores(), command());
        List<StoreKind> whole = selection.stores().stream()
                .filter(store -> out == null && selection.whole() && results.hasHoldfast(store))
                .toList();
        if (!whole.isEmpty() && home().isPresent()) {
            MeasuredPage.write(home().get().resolve("docs/measured"), results, whole, command());
        }
        System.out.println("Written: " + folder.resolve("results.json") + ", " + measured);
    }

    private ParameterException misused(String message) {
        return new ParameterException(new CommandLine(this), message);
    }

    private String command() {
        return "./holdfast bench" + (quick ? " --quick" : full ? " --full" : "")
                + (only.isEmpty() ? "" : " --only " + String.join(",", only))
                + (workloads.isEmpty() ? "" : " --workload " + String.join(",", workloads));
    }

    /** The checkout, as the launcher tells it. */
    private static Optional<Path> home() {
        return Optional.ofNullable(System.getProperty("holdfast.home")).map(Path::of);
    }

    private Plan plan() {
        if (quick && full) {
            throw misused("--quick and --full exclude each other");
        }
        return quick ? Plan.QUICK : full ? Plan.FULL : Plan.NORMAL;
    }

    /** For the help. */
    static final class WorkloadIds implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Selection.words().iterator();
        }
    }
}
