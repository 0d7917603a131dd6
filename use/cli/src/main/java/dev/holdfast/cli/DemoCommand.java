package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code holdfast demo}: the ticket sale. */
@Command(
        name = "demo",
        description = "Lets several processes sell from one stock, with and without locks.",
        sortOptions = false,
        usageHelpAutoWidth = true,
        footer = {
            "",
            "They sell three times: without a lock, with Java's synchronized, and with",
            "Holdfast. The table shows what was sold, and oversold. Where no store is named,",
            "the locks live in a temporary file.",
            "",
            "Examples:",
            "  holdfast demo",
            "  holdfast demo --processes 8 --tickets 2000",
            "  holdfast demo --json | jq '.runs[] | {lock, oversold}'"
        })
final class DemoCommand implements Callable<Integer> {
    private static final String LOCK_NAME = "holdfast-demo";
    private static final int MOST_PROCESSES = 64;
    private static final int MOST_BUYERS = 64;
    private static final int MOST_TICKETS = 100_000;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(40);

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(names = "--processes", paramLabel = "N", defaultValue = "4", description = "How many sell. Default: 4.")
    private int processes;

    @Option(names = "--buyers", paramLabel = "N", defaultValue = "4", description = "Threads in each. Default: 4.")
    private int buyers;

    @Option(names = "--tickets", paramLabel = "N", defaultValue = "500", description = "The stock. Default: 500.")
    private int tickets;

    @Option(names = "--json", description = "Print a JSON object.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        check("--processes", processes, MOST_PROCESSES);
        check("--buyers", buyers, MOST_BUYERS);
        check("--tickets", tickets, MOST_TICKETS);
        try (DemoHouse house = DemoHouse.open()) {
            try {
                return report(sell(house));
            } catch (CliException e) {
                if (house.isEnding()) {
                    return ExitCode.INTERNAL; // nobody sees it: a signal ends this process, and tells its own code
                }
                throw e;
            }
        }
    }

    private void check(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), option + " is 1 to " + most + ", not " + value);
        }
    }

    private int report(SaleReport report) {
        if (json) {
            System.out.println(report.json());
        } else {
            System.out.println();
            System.out.print(report.table());
            System.out.println();
            System.out.println(report.sentence());
        }
        if (!report.isRight()) {
            throw new CliException(
                    ExitCode.INTERNAL,
                    "HOLDFAST FAILED: " + report.fault() + ", on " + report.store()
                            + "; this must never happen, please report it");
        }
        return ExitCode.OK;
    }

    private SaleReport sell(DemoHouse house) throws InterruptedException {
        StoreUrl named = Objects.requireNonNull(parent).store();
        StoreUrl store = named.isDefault() ? StoreUrl.file(house.file("locks.db"), StoreUrl.Source.OPTION) : named;
        store.open("holdfast demo").close(); // says in one line what is wrong with it, if anything is
        SaleProgress progress = SaleProgress.onStderr();
        progress.say(processes + (processes == 1 ? " process" : " processes") + ", " + buyers
                + " buyers in each, one stock of " + tickets + " tickets; locks on " + store.shown());
        try (Stock stock = Stock.open(house.file("stock"))) {
            startWorkers(house, store);
            List<SaleRun> runs = new ArrayList<>();
            for (SaleLock lock : SaleLock.values()) {
                SaleRun run = sell(lock, house.workers(), stock, progress);
                progress.end(run);
                runs.add(run);
            }
            return new SaleReport(store.shown(), tickets, processes, buyers, runs);
        }
    }

    private void startWorkers(DemoHouse house, StoreUrl store) throws InterruptedException {
        List<String> arguments = List.of(
                "--buyers=" + buyers,
                "--tickets=" + tickets,
                LOCK_NAME,
                house.file("stock").toString());
        for (int i = 0; i < processes; i++) {
            house.add(WorkerProcess.start(store, house.folder(), arguments));
        }
        for (WorkerProcess worker : house.workers()) {
            worker.awaitReady();
        }
    }

    private SaleRun sell(SaleLock lock, List<WorkerProcess> workers, Stock stock, SaleProgress progress)
            throws InterruptedException {
        stock.write(tickets);
        for (WorkerProcess worker : workers) {
            worker.prepare(lock);
        }
        for (WorkerProcess worker : workers) {
            worker.awaitReady();
        }
        long begin = System.nanoTime();
        workers.forEach(WorkerProcess::go);
        for (WorkerProcess worker : workers) {
            while (!worker.isReady(LOOK_NANOS)) {
                long sold = workers.stream().mapToLong(WorkerProcess::sold).sum();
                progress.show(lock, stock.read(), tickets, sold);
            }
        }
        long nanos = System.nanoTime() - begin;
        List<Sale> sales =
                workers.stream().flatMap(worker -> worker.sales().stream()).toList();
        return new SaleRun(lock, tickets, nanos, sales);
    }
}
