package dev.holdfast.bench;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Several processes of one thread each take turns on one lock of the embedded store, each holding it for some
 * milliseconds: how fairly, how long the longest wait is, how soon the next is in, and what waiting costs.
 *
 * <pre>{@code
 * java -cp bench/target/benchmarks.jar dev.holdfast.bench.Turns [processes 4] [hold ms 10] [seconds 30]
 * }</pre>
 */
public final class Turns {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Turns() {}

    /** Runs it and prints a table. */
    public static void main(String[] args) throws IOException {
        if (args.length == 4) {
            Worker.run(args[0], Long.parseLong(args[1]), Long.parseLong(args[2]));
            return;
        }
        int processes = args.length > 0 ? Integer.parseInt(args[0]) : 4;
        String holdMillis = args.length > 1 ? args[1] : "10";
        String seconds = args.length > 2 ? args[2] : "30";
        TemporaryFolder.use(folder -> measure("sqlite:" + folder.resolve("locks.db"), processes, holdMillis, seconds));
    }

    private static void measure(String url, int processes, String holdMillis, String seconds) {
        List<ChildProcess> workers = new ArrayList<>();
        try {
            for (int i = 0; i < processes; i++) {
                workers.add(ChildJvm.main(Turns.class)
                        .args(url, holdMillis, seconds, "worker")
                        .start());
            }
            workers.forEach(worker -> worker.expect("ready", PATIENCE));
            workers.forEach(worker -> worker.send("go"));
            Duration longest = Duration.ofSeconds(Long.parseLong(seconds)).plus(PATIENCE);
            List<String[]> rows = workers.stream()
                    .map(worker -> worker.expect("turns ", longest).split(" "))
                    .toList();
            print(rows);
        } finally {
            workers.forEach(ChildProcess::close);
        }
    }

    private static void print(List<String[]> rows) {
        System.out.printf(
                Locale.ROOT, "%8s %8s %14s %14s %12s%n", "process", "turns", "p50 wait ms", "max wait ms", "CPU %");
        for (int i = 0; i < rows.size(); i++) {
            String[] row = rows.get(i);
            System.out.printf(Locale.ROOT, "%8d %8s %14s %14s %12s%n", i + 1, row[1], row[2], row[3], row[4]);
        }
        double sum =
                rows.stream().mapToDouble(row -> Double.parseDouble(row[1])).sum();
        double squares = rows.stream()
                .mapToDouble(row -> Double.parseDouble(row[1]))
                .map(turns -> turns * turns)
                .sum();
        System.out.printf(
                Locale.ROOT,
                "turns %.0f, Jain's index %.4f, longest wait %.1f ms, CPU of a process at most %.2f %% of a core%n",
                sum,
                sum * sum / (rows.size() * squares),
                rows.stream()
                        .mapToDouble(row -> Double.parseDouble(row[3]))
                        .max()
                        .orElse(0),
                rows.stream()
                        .mapToDouble(row -> Double.parseDouble(row[4]))
                        .max()
                        .orElse(0));
    }

    private static final class Worker {
        private static final double NANOS_PER_MILLI = 1e6;

        static void run(String url, long holdMillis, long seconds) throws IOException {
            try (LockClient client = LockClient.connect(url)) {
                DistributedLock lock = client.lock("turns");
                List<Long> warmUp = new ArrayList<>();
                turns(lock, holdMillis, TimeUnit.SECONDS.toNanos(2), warmUp);
                System.out.println("ready");
                if (System.in.read() < 0) {
                    return;
                }
                List<Long> waits = new ArrayList<>();
                long cpu = cpuNanos();
                long began = System.nanoTime();
                turns(lock, holdMillis, TimeUnit.SECONDS.toNanos(seconds), waits);
                double share = 100.0 * (cpuNanos() - cpu) / (System.nanoTime() - began);
                waits.sort(null);
                System.out.printf(
                        Locale.ROOT,
                        "turns %d %.2f %.2f %.2f%n",
                        waits.size(),
                        waits.get(waits.size() / 2) / NANOS_PER_MILLI,
                        waits.get(waits.size() - 1) / NANOS_PER_MILLI,
                        share);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private static void turns(DistributedLock lock, long holdMillis, long nanos, List<Long> waits)
                throws InterruptedException {
            long end = System.nanoTime() + nanos;
            while (System.nanoTime() - end < 0) {
                long asked = System.nanoTime();
                try (Hold hold = lock.acquire()) {
                    waits.add(System.nanoTime() - asked);
                    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(holdMillis);
                    while (System.nanoTime() - until < 0 && hold.isValid()) {
                        LockSupport.parkNanos(until - System.nanoTime());
                    }
                }
            }
        }

        private static long cpuNanos() {
            return ProcessHandle.current()
                    .info()
                    .totalCpuDuration()
                    .orElse(Duration.ZERO)
                    .toNanos();
        }
    }
}
