package dev.holdfast.bench;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.JsonFile;
import dev.holdfast.bench.report.Page;
import dev.holdfast.bench.report.Terminal;
import dev.holdfast.bench.run.CommandLineFigures;
import dev.holdfast.bench.run.Environment;
import dev.holdfast.bench.run.Figures;
import dev.holdfast.bench.run.Holdfasts;
import dev.holdfast.bench.run.Plan;
import dev.holdfast.bench.run.Progress;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.StoreRun;
import dev.holdfast.bench.run.Workload;
import dev.holdfast.bench.run.Workload.Tier;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.ServerMissingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
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
            "A run of everything writes docs/benchmarks.md and its pictures; every run writes the same, and all figures"
                    + " as JSON, to target/bench. Exits with 1 when a round failed or a lock did not exclude.",
            "",
            "Examples:",
            "  holdfast bench --quick",
            "  holdfast bench --only redis,sqlite",
            "  holdfast bench --only redis --workload own-1,one-2x16",
            "  holdfast bench jmh OneLockSixteenThreads     (by JMH, whose options follow)"
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
            description = "only these: mem, sqlite, redis, zookeeper, mariadb, postgresql")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--workload",
            split = ",",
            paramLabel = "ID",
            description = "only these, whatever their place, and no other figures: ${COMPLETION-CANDIDATES}",
            completionCandidates = WorkloadIds.class)
    private List<String> workloads = new ArrayList<>();

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
        List<StoreKind> stores = stores();
        Results results = new Results();
        Environment.describe(results, plan);
        Progress progress = new Progress(System.err, plan, cells(plan, stores));
        progress.say("About " + minutes(progress.expected().plus(extra(plan, stores))) + " in all, " + plan);
        TemporaryFolder.use(folder -> {
            for (int i = 0; i < stores.size(); i++) {
                int share = i + 1;
                Optional<Duration> deadline =
                        plan.budget().map(budget -> budget.multipliedBy(share).dividedBy(stores.size()));
                measure(stores.get(i), plan, folder.resolve("page"), results, progress, deadline);
            }
            if (isWhole(plan)) {
                commandLine(plan, folder, results, progress);
            }
        });
        Terminal.print(results, System.out);
        write(results, plan);
        return results.failures().isEmpty() && results.breaches().isEmpty() ? 0 : 1;
    }

    private void measure(
            StoreKind store, Plan plan, Path page, Results results, Progress progress, Optional<Duration> deadline) {
        try (Server server = Servers.start(store)) {
            new StoreRun(server, plan, workloads(plan), page, results, progress, deadline).run();
            boolean figures = hasFigures(plan) && store != StoreKind.MEMORY;
            if (figures && Holdfasts.hasStoreFor(Peers.of(Peers.HOLDFAST, store), server)) {
                new Figures(server, page, results, progress, plan.tier() == Tier.FULL).measure();
            }
        } catch (ServerMissingException e) {
            progress.say(store.title() + ": " + e.getMessage());
            results.leaveOut(store.title() + ": " + e.getMessage());
        }
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

    private void write(Results results, Plan plan) throws IOException {
        Path folder = out != null ? out : home().orElse(Path.of("")).resolve("target/bench");
        Files.createDirectories(folder);
        JsonFile.write(folder.resolve("results.json"), results);
        List<Path> pages = new ArrayList<>(List.of(folder.resolve("benchmarks.md")));
        if (out == null && isWhole(plan)) {
            home().map(home -> home.resolve("docs/benchmarks.md")).ifPresent(pages::add);
        }
        for (Path page : pages) {
            Page.write(page, results, command());
        }
        System.out.println("Written: " + folder.resolve("results.json") + ", "
                + pages.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }

    /** Whether it leaves nothing out, so that its report may stand for all. */
    private boolean isWhole(Plan plan) {
        return only.isEmpty() && hasFigures(plan);
    }

    private boolean hasFigures(Plan plan) {
        return workloads.isEmpty() && plan.tier() != Tier.QUICK;
    }

    private List<Workload> workloads(Plan plan) {
        for (String id : workloads) {
            if (!Workload.ids().contains(id)) {
                throw misused("there is no workload '" + id + "': it is one of " + String.join(", ", Workload.ids()));
            }
        }
        return workloads.isEmpty()
                ? Workload.upTo(plan.tier())
                : workloads.stream().map(Workload::of).toList();
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

    private List<StoreKind> stores() {
        List<String> known =
                Arrays.stream(StoreKind.values()).map(StoreKind::id).toList();
        for (String name : only) {
            if (!known.contains(name)) {
                throw misused("there is no store '" + name + "' here: it is one of " + String.join(", ", known));
            }
        }
        return Arrays.stream(StoreKind.values())
                .filter(store -> only.isEmpty() || only.contains(store.id()))
                .toList();
    }

    private int cells(Plan plan, List<StoreKind> stores) {
        int cells = 0;
        for (StoreKind store : stores) {
            for (PeerKind peer : StoreRun.peers(plan, store)) {
                cells += (int) workloads(plan).stream()
                        .filter(workload -> workload.suits(store) && workload.suits(peer))
                        .count();
            }
        }
        return cells;
    }

    private Duration extra(Plan plan, List<StoreKind> stores) {
        return !hasFigures(plan)
                ? Duration.ZERO
                : Figures.expected(plan.tier() == Tier.FULL).multipliedBy(stores.size());
    }

    /** For the help. */
    static final class WorkloadIds implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Workload.ids().iterator();
        }
    }

    private static String minutes(Duration time) {
        return Math.max(1, time.plusSeconds(30).toMinutes()) + " min";
    }
}
