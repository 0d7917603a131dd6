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
 * How long after a close a waiter in another process is in, on the embedded store; from one JVM's
 * {@link System#nanoTime()} to another's, which Linux counts from the same moment.
 *
 * <pre>{@code
 * java -cp bench/target/benchmarks.jar dev.holdfast.bench.WakeUp [rounds 500] [wait ms 50]
 * }</pre>
 */
public final class WakeUp {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final double NANOS_PER_MILLI = 1e6;

    private static final long NANOS_POLL = 200_000;

    private WakeUp() {}

    /** Runs it and prints a line. */
    public static void main(String[] args) throws IOException {
        if (args.length == 1 && args[0].startsWith("sqlite:")) {
            answer(args[0]);
            return;
        }
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 500;
        long waitMillis = args.length > 1 ? Long.parseLong(args[1]) : 50;
        TemporaryFolder.use(folder -> measure("sqlite:" + folder.resolve("locks.db"), rounds, waitMillis));
    }

    private static void measure(String url, int rounds, long waitMillis) {
        List<Long> delays = new ArrayList<>();
        try (ChildProcess waiter = ChildJvm.main(WakeUp.class).args(url).start();
                LockClient client = LockClient.connect(url)) {
            DistributedLock lock = client.lock("wake");
            for (int i = 0; i < rounds; i++) {
                Hold hold = lock.acquire();
                waiter.send("wait");
                while (lock.status().waiting() == 0) {
                    LockSupport.parkNanos(NANOS_POLL);
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(waitMillis));
                long closed = System.nanoTime();
                hold.close();
                String said = waiter.expect("in " + i + " ", PATIENCE);
                delays.add(Long.parseLong(said.split(" ")[2]) - closed);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        delays.sort(null);
        System.out.printf(
                Locale.ROOT,
                "woken after %.2f ms at the median, p99 %.2f ms, max %.2f ms (%d rounds, %d ms of waiting)%n",
                delays.get(rounds / 2) / NANOS_PER_MILLI,
                delays.get(rounds * 99 / 100) / NANOS_PER_MILLI,
                delays.get(rounds - 1) / NANOS_PER_MILLI,
                rounds,
                waitMillis);
    }

    private static void answer(String url) throws IOException {
        try (LockClient client = LockClient.connect(url)) {
            DistributedLock lock = client.lock("wake");
            int round = 0;
            for (int read = System.in.read(); read >= 0; read = System.in.read()) {
                if (read != '\n') {
                    continue;
                }
                try (Hold hold = lock.acquire()) {
                    System.out.println("in " + round++ + " " + System.nanoTime() + " " + hold.token());
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
