package dev.holdfast.cli;

import dev.holdfast.DistributedLock;
import dev.holdfast.LockClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/**
 * One shop of the demo: a process of its own, told what to do line by line by {@link WorkerProcess}.
 *
 * <pre>
 *   parent                       worker
 *                     ◄──  ready
 *   run KIND          ──►        threads made, waiting at the gate
 *                     ◄──  ready
 *   go                ──►        gate open
 *                     ◄──  sold N          now and then
 *                     ◄──  sale T K W      for each at the end
 *                     ◄──  ready
 *   end of file       ──►        ends, whatever it is doing
 * </pre>
 */
@Command(name = "demo-worker", hidden = true)
final class DemoWorkerCommand implements Callable<Integer> {
    static final String READY = "ready";
    static final String RUN = "run ";
    static final String GO = "go";
    static final String SOLD = "sold ";
    static final String SALE = "sale ";
    private static final long PROGRESS_MILLIS = 50;

    @ParentCommand
    private @Nullable HoldfastCommand parent;

    @Parameters(index = "0")
    private String lockName = "";

    @Parameters(index = "1")
    private Path stockFile = Path.of("");

    @Option(names = "--buyers", required = true)
    private int buyers;

    @Option(names = "--tickets", required = true)
    private long tickets;

    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();
    private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    @Override
    public Integer call() throws InterruptedException, ExecutionException {
        // Ctrl-C goes to parent and workers alike: the parent decides, and we end with our input.
        OsSignal.ignore(OsSignal.INT);
        Thread ear = new Thread(this::hear, "demo-orders");
        ear.setDaemon(true);
        ear.start();
        try (LockClient client = Objects.requireNonNull(parent).store().open("holdfast demo");
                Stock stock = Stock.open(stockFile)) {
            DistributedLock lock = client.lock(lockName);
            lock.acquire().close(); // a shop opens before the sale begins: classes loaded, connections made
            say(READY);
            while (true) {
                String order = orders.take();
                SaleLock kind = SaleLock.valueOf(order.substring(RUN.length()).toUpperCase(Locale.ROOT));
                run(kind, lock, stock);
                say(READY);
            }
        }
    }

    private void hear() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                orders.add(line);
            }
        } catch (IOException e) {
            // As good as the end: the parent is gone.
        }
        Runtime.getRuntime().halt(ExitCode.OK);
    }

    private void run(SaleLock kind, DistributedLock lock, Stock stock) throws InterruptedException, ExecutionException {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicLong soldHere = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(buyers);
        List<Future<List<Sale>>> results = new ArrayList<>();
        for (int i = 0; i < buyers; i++) {
            TicketCounter counter = new TicketCounter(kind, lock, stock, tickets, soldHere);
            results.add(threads.submit(() -> {
                gate.await();
                return counter.call();
            }));
        }
        say(READY);
        orders.take(); // go
        gate.countDown();
        for (Future<List<Sale>> result : results) {
            awaitAndTell(result, soldHere);
        }
        threads.shutdown();
        StringBuilder told = new StringBuilder();
        for (Future<List<Sale>> result : results) {
            result.get().forEach(sale -> told.append(SALE).append(sale.encode()).append('\n'));
        }
        out.print(told);
    }

    private void awaitAndTell(Future<List<Sale>> result, AtomicLong soldHere)
            throws InterruptedException, ExecutionException {
        while (true) {
            try {
                result.get(PROGRESS_MILLIS, TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                say(SOLD + soldHere);
            }
        }
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }
}
