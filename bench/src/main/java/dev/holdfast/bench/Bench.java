package dev.holdfast.bench;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Terminal;
import dev.holdfast.bench.run.Environment;
import dev.holdfast.bench.run.Plan;
import dev.holdfast.bench.run.Progress;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.StoreRun;
import dev.holdfast.bench.run.Workload;
import dev.holdfast.bench.server.Server;
import dev.holdfast.bench.server.Servers;
import dev.holdfast.testbed.ServerMissingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./holdfast bench}: Holdfast beside its peers, in one run. */
@Command(
        name = "holdfast bench",
        mixinStandardHelpOptions = true,
        description = {
            "Measures Holdfast and the libraries its users would otherwise pick, on the same real servers in one run.",
            "Exits with 1 when a round failed or a lock did not exclude."
        })
public final class Bench implements Callable<Integer> {
    @Option(names = "--quick", description = "at most 3 minutes: few and short rounds, to see that everything works")
    private boolean quick;

    @Option(names = "--full", description = "every workload, long rounds: more than an hour")
    private boolean full;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "STORE",
            description = "only these: mem, sqlite, redis, zookeeper, mariadb, postgresql")
    private List<String> only = new ArrayList<>();

    /** Runs it. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Bench()).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        Plan plan = plan();
        List<StoreKind> stores = stores();
        Results results = new Results();
        Environment.describe(results, plan);
        Progress progress = new Progress(System.err, plan, cells(plan, stores));
        TemporaryFolder.use(folder -> {
            for (StoreKind store : stores) {
                run(store, plan, folder.resolve("page"), results, progress);
            }
        });
        Terminal.print(results, System.out);
        return results.failures().isEmpty() && results.breaches().isEmpty() ? 0 : 1;
    }

    private static void run(StoreKind store, Plan plan, Path page, Results results, Progress progress) {
        try (Server server = Servers.start(store)) {
            new StoreRun(server, plan, page, results, progress).run();
        } catch (ServerMissingException e) {
            progress.say(store.title() + ": " + e.getMessage());
            results.leaveOut(store.title() + ": " + e.getMessage());
        }
    }

    private Plan plan() {
        if (quick && full) {
            throw new CommandLine.ParameterException(new CommandLine(this), "--quick and --full exclude each other");
        }
        return quick ? Plan.QUICK : full ? Plan.FULL : Plan.NORMAL;
    }

    private List<StoreKind> stores() {
        for (String name : only) {
            if (Arrays.stream(StoreKind.values()).noneMatch(store -> store.id().equals(name))) {
                throw new CommandLine.ParameterException(
                        new CommandLine(this),
                        "there is no store '" + name
                                + "' here: it is one of mem, sqlite, redis, zookeeper, mariadb, postgresql");
            }
        }
        return Arrays.stream(StoreKind.values())
                .filter(store -> only.isEmpty() || only.contains(store.id()))
                .toList();
    }

    private static int cells(Plan plan, List<StoreKind> stores) {
        int cells = 0;
        for (StoreKind store : stores) {
            for (PeerKind peer : StoreRun.peers(plan, store)) {
                cells += (int) Workload.upTo(plan.tier()).stream()
                        .filter(workload -> workload.suits(store) && workload.suits(peer))
                        .count();
            }
        }
        return cells;
    }
}
