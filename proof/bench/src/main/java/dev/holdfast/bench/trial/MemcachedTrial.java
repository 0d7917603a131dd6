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
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;

/**
 * What a free lock costs on Memcached, beside the least that a server can be asked for: an {@code add} by spymemcached. All ways
 * run in one JVM. Each turn pauses for 0 to 8 ms, draws one of the ways, and takes a lock that nobody has used.
 */
final class MemcachedTrial {
    private static final double MOST = 1.3;
    private static final int LEASE_SECONDS = 30;
    private static final int TURNS_BEFORE = 36_000;
    private static final long MOST_PAUSE_NANOS = 8_000_000;
    private static final double MICROS = 1e3;

    /** A way to take a lock; what it returns lets it go. */
    private record Way(String title, Taking taking, List<Long> nanos) {
        @FunctionalInterface
        interface Taking {
            Callable<?> take(String name) throws Exception;
        }

        Way(String title, Taking taking) {
            this(title, taking, new ArrayList<>());
        }

        double quantile(double of) {
            return Trial.quantile(nanos, of) / MICROS;
        }
    }

    private MemcachedTrial() {}

    /** Prints a table; false if a free lock takes longer than 1.3 times what the bare command does. */
    static boolean run(int turns) throws Exception {
        Trial.describe(turns + " turns, after " + TURNS_BEFORE + " without a pause; times in µs");
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
                List<Way> ways = List.of(
                        new Way("`add` by spymemcached", name -> {
                            memcached.add(name, LEASE_SECONDS, "locked").get();
                            return memcached.delete(name)::get;
                        }),
                        new Way("and its CAS id, in one packet", name -> {
                            Future<Boolean> added = memcached.add(name, LEASE_SECONDS, "locked");
                            memcached.asyncGets(name).get();
                            added.get();
                            return memcached.delete(name)::get;
                        }),
                        new Way("Holdfast", name -> {
                            Hold hold = client.lock(name).acquire();
                            return () -> {
                                hold.close();
                                return hold;
                            };
                        }));
                for (int i = -TURNS_BEFORE; i < turns; i++) {
                    turn(ways.get(ThreadLocalRandom.current().nextInt(ways.size())), i);
                }
                Trial.head("way", "median", "99 %", "beside `add`");
                double bare = ways.get(0).quantile(0.5);
                ways.forEach(way -> Trial.row(
                        way.title,
                        "%.0f".formatted(way.quantile(0.5)),
                        "%.0f".formatted(way.quantile(0.99)),
                        "%.2f".formatted(way.quantile(0.5) / bare)));
                return ways.get(ways.size() - 1).quantile(0.5) <= MOST * bare;
            } finally {
                memcached.shutdown();
            }
        }
    }

    private static void turn(Way way, int number) throws Exception {
        if (number >= 0) {
            Schedule.pause(Duration.ofNanos(ThreadLocalRandom.current().nextLong(MOST_PAUSE_NANOS)));
        }
        String name = "lock:" + number;
        long begin = System.nanoTime();
        Callable<?> release = way.taking.take(name);
        long end = System.nanoTime();
        if (number >= 0) {
            way.nanos.add(end - begin);
        }
        Object unused = release.call();
    }
}
