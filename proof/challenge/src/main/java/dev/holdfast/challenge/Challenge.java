package dev.holdfast.challenge;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Check.Violation;
import dev.holdfast.challenge.history.HistoryFile;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.report.HtmlReport;
import dev.holdfast.challenge.report.JsonReport;
import dev.holdfast.challenge.report.Results;
import dev.holdfast.challenge.report.Table;
import dev.holdfast.challenge.report.Terminal;
import dev.holdfast.challenge.store.StoreKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ./holdfast challenge}: attacks locks, and says what held. */
@Command(
        name = "holdfast challenge",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Attacks locks with real faults on real processes and servers, and prints what held.",
        subcommands = {Challenge.Verify.class, Challenge.Join.class},
        footer = {
            "",
            "It starts stores of its own. Wrong locks run beside: if a check does not find each of them, or finds"
                    + " something in a right one, the run is INVALID and prints no table. Exits with 1 when a promise"
                    + " was broken, 2 when the run is invalid.",
            "",
            "Examples:",
            "  holdfast challenge --quick",
            "  holdfast challenge redis --long",
            "  holdfast challenge --minutes 10",
            "  holdfast challenge --only redis/holdfast/fenced/pause-holder --seed 7",
            "  holdfast challenge verify target/challenge/redis-holdfast-fenced-reset-7.history",
            "  holdfast challenge table target/challenge-redis target/challenge-sqlite"
        })
public final class Challenge implements Callable<Integer> {
    private static final List<Logger> MUTED = new ArrayList<>();
    private static final int BROKEN = 1;
    private static final int INVALID = 2;
    private static final int USAGE = 64;
    private static final int CORES = 2;
    /** How long files may still be written after SIGINT. */
    private static final Duration AFTERMATH = Duration.ofMillis(500);

    private static final Duration BETWEEN = Duration.ofMillis(50);
    private static final int MINUTES = 10;

    @Parameters(
            paramLabel = "STORE",
            description = "only these: sqlite, redis, sentinel, mariadb, postgresql, zookeeper, etcd, memcached",
            arity = "0..*")
    private List<String> stores = new ArrayList<>();

    @ArgGroup
    private Length length = new Length();

    /** One of three. */
    static final class Length {
        @Option(
                names = "--quick",
                description = "the faults that take little time, once, on SQLite, Redis and ZooKeeper; without other"
                        + " libraries")
        private boolean quick;

        @Option(
                names = "--long",
                description = "each fault 30 times, 10 times where it waits until a lease is over; up to an hour a"
                        + " store")
        private boolean thorough;

        @Option(
                names = "--minutes",
                paramLabel = "N",
                defaultValue = "10",
                description = "again and again, so long at least; default 10")
        private int minutes = MINUTES;
    }

    @Option(names = "--seed", paramLabel = "N", description = "makes the choices of an earlier run again")
    private @Nullable Long seed;

    @Option(
            names = "--only",
            paramLabel = "CELL",
            description = "only STORE/LOCK/WORKLOAD/FAULT; a word may be *, the last ones may be missing")
    private @Nullable String only;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description = "where report.html, results.json and summary.md go; default target/challenge")
    private @Nullable Path out;

    /** Runs it. */
    public static void main(String[] args) {
        // What the comparison's own client meets while its server is attacked is no news.
        Stream.of("dev.holdfast", "io.lettuce").map(Logger::getLogger).forEach(Challenge::mute);
        System.exit(commandLine(new PrintWriter(System.err, true, Charset.defaultCharset()))
                .execute(args));
    }

    private static void mute(Logger logger) {
        MUTED.add(logger); // or it is collected, and speaks again
        logger.setLevel(Level.OFF);
    }

    /** The command, which tells there why it refuses. */
    static CommandLine commandLine(PrintWriter err) {
        return new CommandLine(new Challenge())
                .setErr(err)
                .setParameterExceptionHandler((error, arguments) -> {
                    err.println("holdfast challenge: " + error.getMessage() + " (--help tells more)");
                    return USAGE;
                })
                .setExecutionExceptionHandler((error, command, parsed) -> {
                    err.println("holdfast challenge: broke down: " + error);
                    return INVALID; // no lock is to blame
                });
    }

    @Override
    public Integer call() throws IOException {
        List<StoreKind> asked = kinds();
        long start = seed != null ? seed : System.currentTimeMillis() / 1000;
        Plan plan = plan(start);
        List<StoreKind> kinds =
                asked.stream().filter(kind -> StoreRun.hasCells(kind, plan)).toList();
        if (kinds.isEmpty()) {
            throw misused("there is no cell '" + only + "'");
        }
        if (Runtime.getRuntime().availableProcessors() < CORES) {
            throw misused("needs " + CORES + " processors: on one, a worker that is attacked and those that watch it"
                    + " take turns");
        }
        Path reports = folderOfReports();
        System.out.println("seed " + start);
        Results results = new Results();
        TemporaryFolder.use(folder -> {
            Thread interrupted = new Thread(() -> tellAndClear(results, reports, folder), "interrupted");
            Runtime.getRuntime().addShutdownHook(interrupted);
            run(kinds, plan, results, folder, () -> write(reports, results));
            takeBack(interrupted);
        });
        if (results.isInterrupted()) {
            return INVALID; // what was seen is told
        }
        results.complete();
        write(reports, results);
        Terminal.print(results, System.out);
        System.out.println("Written to " + reports + ": report.html, results.json, summary.md");
        return !results.invalid().isEmpty() ? INVALID : results.held() ? 0 : BROKEN;
    }

    private Plan plan(long start) {
        if (length.minutes < 1) {
            throw misused("--minutes must be 1 or more");
        }
        if (length.quick) {
            return Plan.quick(start, Optional.ofNullable(only));
        }
        return length.thorough
                ? Plan.thorough(start, Optional.ofNullable(only))
                : Plan.lasting(Duration.ofMinutes(length.minutes), start, Optional.ofNullable(only));
    }

    /** Where they can be written, before anything is attacked. */
    private Path folderOfReports() {
        Path folder = out != null ? out : home().resolve("target/challenge");
        try {
            Files.createDirectories(folder);
            JsonReport.write(folder.resolve("results.json"), new Results());
            Files.deleteIfExists(folder.resolve("summary.md")); // of an earlier run
            Files.deleteIfExists(folder.resolve("report.html"));
        } catch (IOException e) {
            throw misused("cannot write to " + folder + ": " + e.getMessage());
        }
        return folder;
    }

    private static void write(Path folder, Results results) {
        try {
            synchronized (results) { // no heat of another store adds to them meanwhile
                results.keepHistories(folder);
                JsonReport.write(folder.resolve("results.json"), results);
                HtmlReport.write(folder.resolve("report.html"), results);
                if (results.isComplete() && results.invalid().isEmpty()) {
                    Files.writeString(folder.resolve("summary.md"), Table.of(List.of(folder)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the reports to " + folder, e);
        }
    }

    /** At SIGINT; the testbed ends all processes at the same time. */
    private static void tellAndClear(Results results, Path reports, Path folder) {
        results.interrupt();
        try {
            write(reports, results);
        } catch (UncheckedIOException e) {
            System.err.println("holdfast challenge: cannot keep what was seen in " + reports + ": " + e.getMessage());
        }
        Terminal.printSoFar(results, System.out);
        long end = System.nanoTime() + AFTERMATH.toNanos();
        while (System.nanoTime() - end < 0) {
            try {
                TemporaryFolder.delete(folder);
            } catch (IOException | UncheckedIOException changing) {
                // A server that was starting writes files meanwhile, or another thread deletes its own: again, then.
            }
            LockSupport.parkNanos(BETWEEN.toNanos());
        }
        if (Files.exists(folder)) {
            System.err.println("holdfast challenge: " + folder + " is left behind");
        }
    }

    /** Takes back what is to run at SIGINT. If it runs already, it has the last word. */
    private static void takeBack(Thread interrupted) {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(interrupted);
        } catch (IllegalStateException exiting) {
            join(interrupted);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void run(List<StoreKind> kinds, Plan plan, Results results, Path folder, Runnable heatIsOver) {
        List<Thread> threads = new ArrayList<>();
        for (StoreKind kind : kinds) {
            Thread thread =
                    new Thread(new StoreRun(kind, plan, results, folder.resolve(kind.id()), heatIsOver), kind.id());
            thread.setUncaughtExceptionHandler((failed, why) -> results.failed(kind.id() + " broke down: " + why));
            threads.add(thread);
            thread.start();
        }
        threads.forEach(Challenge::join);
    }

    private List<StoreKind> kinds() {
        try {
            return stores.isEmpty()
                    ? StoreKind.ALL.stream()
                            .filter(kind -> kind.isQuick() || !length.quick)
                            .toList()
                    : stores.stream().distinct().map(StoreKind::of).toList();
        } catch (IllegalArgumentException e) {
            throw misused(String.valueOf(e.getMessage()));
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(new CommandLine(this), message);
    }

    /** The checkout, as the launcher tells it. */
    private static Path home() {
        return Path.of(System.getProperty("holdfast.home", ""));
    }

    /** {@code ./holdfast challenge verify}: judges a history that was kept. */
    @Command(name = "verify", description = "Judges a history that was kept, without any server.")
    static final class Verify implements Callable<Integer> {
        @Spec
        private CommandSpec command = CommandSpec.create();

        @Parameters(paramLabel = "FILE")
        private Path file = Path.of("");

        @Override
        public Integer call() {
            LaneHistory history;
            List<Violation> found;
            try {
                history = HistoryFile.read(file);
                found = Check.judge(history);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()));
            } catch (IOException e) {
                throw new ParameterException(command.commandLine(), file + " cannot be read: " + e);
            }
            System.out.println(history.cell() + ", seed " + history.seed() + ": "
                    + history.turns().size() + " turns, " + history.bitten() + " bites, " + found.size()
                    + " violations");
            found.forEach(violation -> System.out.println("  " + violation.check() + ": " + violation.text()));
            return found.isEmpty() ? 0 : BROKEN;
        }
    }

    /** {@code ./holdfast challenge table}: several runs in one table. */
    @Command(
            name = "table",
            description = "Prints one table of several runs, each of other stores: this library's locks beside others.")
    static final class Join implements Callable<Integer> {
        @Spec
        private CommandSpec command = CommandSpec.create();

        @Parameters(paramLabel = "FOLDER", description = "where a run has written its results", arity = "1..*")
        private List<Path> folders = new ArrayList<>();

        @Override
        public Integer call() {
            try {
                System.out.print(Table.of(folders));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(command.commandLine(), String.valueOf(e.getMessage()));
            }
            return 0;
        }
    }
}
