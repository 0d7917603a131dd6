package dev.holdfast.bench.trial;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.MemcachedServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;

/**
 * What a free lock costs on Memcached beside the least that a server can be asked for: an {@code add} by spymemcached. Both run in
 * one JVM, turn by turn, each lock once; the release is not measured, as a close does not wait for it.
 */
final class MemcachedTrial {
    private static final double MOST = 1.3;
    private static final int LEASE_SECONDS = 30;
    private static final int TURNS_BEFORE = 12_000;
    private static final double MICROS = 1e3;

    private MemcachedTrial() {}

    /** Prints a table; false if a free lock takes longer than 1.3 times what the bare command does. */
    static boolean run(int turns) throws Exception {
        Trial.describe(turns + " turns of each, after " + TURNS_BEFORE + "; times in µs");
        List<Long> bare = new ArrayList<>();
        List<Long> holdfast = new ArrayList<>();
        try (MemcachedServer server = MemcachedServer.start();
                LockClient client = LockClient.connect("memcached://" + server.endpoint())) {
            MemcachedClient memcached = new MemcachedClient(
                    new ConnectionFactoryBuilder()
                            .setDaemon(true)
                            .setShouldOptimize(false)
                            .setUseNagleAlgorithm(false)
                            .build(),
                    List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port())));
            try {
                for (int i = -TURNS_BEFORE; i < turns; i++) {
                    String name = "lock:" + i;
                    long added = nanos(
                            () -> memcached.add(name, LEASE_SECONDS, "locked").get());
                    memcached.delete(name).get();
                    Hold[] held = new Hold[1];
                    long acquired = nanos(() -> held[0] = client.lock(name).acquire());
                    held[0].close();
                    if (i >= 0) {
                        bare.add(added);
                        holdfast.add(acquired);
                    }
                    Schedule.pause(i < 0 ? Duration.ZERO : Duration.ofMillis(1)); // so that no release is under way
                }
            } finally {
                memcached.shutdown();
            }
        }
        double ratio = Trial.quantile(holdfast, 0.5) / Trial.quantile(bare, 0.5);
        Trial.head("way", "median", "99 %", "beside `add`");
        row("`add` by spymemcached", bare, 1);
        row("Holdfast", holdfast, ratio);
        return ratio <= MOST;
    }

    private static long nanos(Callable<?> request) throws Exception {
        long begin = System.nanoTime();
        Object unused = request.call();
        return System.nanoTime() - begin;
    }

    private static void row(String way, List<Long> nanos, double ratio) {
        Trial.row(
                way,
                "%.0f".formatted(Trial.quantile(nanos, 0.5) / MICROS),
                "%.0f".formatted(Trial.quantile(nanos, 0.99) / MICROS),
                "%.2f".formatted(ratio));
    }
}
