package dev.holdfast.bench;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What it costs to keep many holds, and what many names leave behind, on the embedded store.
 *
 * <pre>{@code
 * java -cp bench/target/benchmarks.jar dev.holdfast.bench.ManyHolds [holds 10000] [seconds 60] [names 100000]
 * }</pre>
 */
public final class ManyHolds {
    private static final double MEGABYTE = 1e6;
    private static final int WARM_UP_NAMES = 2_000;

    private ManyHolds() {}

    /** Runs it and prints a line each. */
    public static void main(String[] args) throws IOException {
        int holds = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
        int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 60;
        int names = args.length > 2 ? Integer.parseInt(args[2]) : 100_000;
        TemporaryFolder.use(folder -> {
            try (LockClient client = LockClient.connect("sqlite:" + folder.resolve("locks.db"))) {
                keep(client, holds, seconds);
                use(client, names);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static void keep(LockClient client, int count, int seconds) throws InterruptedException {
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            holds.add(client.lock("kept-" + i).acquire());
        }
        await(10); // one round of renewals, to warm up
        long cpu = cpuNanos();
        long began = System.nanoTime();
        await(seconds);
        double share = 100.0 * (cpuNanos() - cpu) / (System.nanoTime() - began);
        long valid = holds.stream().filter(Hold::isValid).count();
        System.out.printf(
                Locale.ROOT,
                "%d holds (lease 30 s) renewed for %d s: %.2f %% of a core, %d still valid%n",
                count,
                seconds,
                share,
                valid);
        holds.forEach(Hold::close);
    }

    private static void use(LockClient client, int count) throws InterruptedException {
        lockOnce(client, "warm-", WARM_UP_NAMES);
        double before = usedMegabytes();
        lockOnce(client, "once-", count);
        System.out.printf(
                Locale.ROOT,
                "%d names locked once: heap %.2f MB before, %.2f MB after%n",
                count,
                before,
                usedMegabytes());
    }

    private static void lockOnce(LockClient client, String prefix, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            client.lock(prefix + i).acquire().close();
        }
    }

    private static double usedMegabytes() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least / MEGABYTE;
    }

    private static void await(int seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
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
