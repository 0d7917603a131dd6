package dev.holdfast.bench.trial;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.recipes.SplitStock;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** A stock of 16 segments beside the same stock behind one lock: two processes of 32 buyers sell it, piece by piece. */
final class StockTrial {
    private static final int PROCESSES = 2;
    private static final int BUYERS = 32;
    private static final int SEGMENTS = 16;
    private static final int PIECES = 1_000;
    private static final int ROUNDS = 3;
    private static final double WANTED = 8;
    private static final Duration WORK = Duration.ofMillis(5);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String url;
    private final RedisCommands<String, String> redis;
    private final LockClient client;
    private final List<ChildProcess> processes = new ArrayList<>();
    private boolean exact = true;

    private StockTrial(String url, RedisCommands<String, String> redis, LockClient client) {
        this.url = url;
        this.redis = redis;
        this.client = client;
    }

    static boolean run(String url, RedisCommands<String, String> redis) throws Exception {
        try (LockClient client = LockClient.connect(url)) {
            return new StockTrial(url, redis, client).run();
        }
    }

    private boolean run() throws Exception {
        try {
            for (int i = 0; i < PROCESSES; i++) {
                processes.add(ChildJvm.main(Buyers.class)
                        .flags("-XX:TieredStopAtLevel=4")
                        .args(url)
                        .start());
            }
            double unused = sell(SEGMENTS, true) + sell(SEGMENTS, false); // compiles what runs
            Trial.head("hand-over", "one lock, pieces/s", SEGMENTS + " segments, pieces/s", "×", "sold of " + PIECES);
            boolean fast = true;
            for (boolean handOver : new boolean[] {true, false}) {
                fast &= compare(handOver);
            }
            return fast && exact;
        } finally {
            processes.forEach(ChildProcess::close);
        }
    }

    private boolean compare(boolean handOver) throws InterruptedException {
        List<Double> ones = new ArrayList<>();
        List<Double> splits = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            double one = sell(1, handOver);
            double split = sell(SEGMENTS, handOver);
            ones.add(one);
            splits.add(split);
            ratios.add(split / one);
        }
        double lowest = ratios.stream().min(Double::compare).orElseThrow();
        Trial.row(
                handOver ? "on" : "off",
                spread(ones, "%.0f"),
                spread(splits, "%.0f"),
                spread(ratios, "%.1f"),
                exact ? "exactly, every time" : "NOT EXACTLY");
        return lowest >= WANTED;
    }

    private static String spread(List<Double> figures, String format) {
        List<Double> sorted = figures.stream().sorted().toList();
        return String.format(
                format + " (" + format + "–" + format + ")",
                sorted.get(sorted.size() / 2),
                sorted.get(0),
                sorted.get(sorted.size() - 1));
    }

    /** Sells all pieces; pieces per second until the last was sold. */
    private double sell(int segments, boolean handOver) throws InterruptedException {
        RedisTable table = new RedisTable(redis, "stock", segments, Duration.ZERO);
        table.create();
        SplitStock stock = SplitStock.of(client, "stock" + segments, segments, table);
        stock.fill(PIECES);
        long began = System.nanoTime();
        processes.forEach(process -> process.send(segments + " " + handOver));
        long sold = 0;
        long last = began;
        for (ChildProcess process : processes) {
            String[] words = process.expect("sold ", PATIENCE).split(" ");
            sold += Long.parseLong(words[1]);
            last = Math.max(last, Long.parseLong(words[2]));
        }
        exact &= sold == PIECES && stock.left() == 0;
        return PIECES * 1e9 / (last - began);
    }

    /** A process of buyers. */
    static final class Buyers {
        private Buyers() {}

        public static void main(String[] args) throws Exception {
            ExecutorService threads = Executors.newFixedThreadPool(BUYERS);
            RedisClient server = RedisClient.create(args[0]);
            try (LockClient client = LockClient.connect(args[0])) {
                Scanner in = new Scanner(System.in, "UTF-8");
                while (in.hasNextLine()) {
                    String[] words = in.nextLine().split(" ");
                    int segments = Integer.parseInt(words[0]);
                    HoldOptions options = Boolean.parseBoolean(words[1])
                            ? HoldOptions.defaults()
                            : HoldOptions.defaults().handOver(0, Duration.ZERO);
                    StatefulRedisConnection<String, String> connection = server.connect();
                    RedisTable table = new RedisTable(connection.sync(), "stock", segments, WORK);
                    SplitStock stock = SplitStock.of(client, "stock" + segments, segments, table, options);
                    report(threads.invokeAll(
                            Stream.generate(() -> buyer(stock)).limit(BUYERS).toList()));
                    connection.close();
                }
            }
            threads.shutdown();
            server.shutdown();
        }

        private static Callable<long[]> buyer(SplitStock stock) {
            return () -> {
                long bought = 0;
                long last = 0;
                while (stock.take(1)) {
                    bought++;
                    last = System.nanoTime();
                }
                return new long[] {bought, last};
            };
        }

        private static void report(List<Future<long[]>> buyers) throws Exception {
            long bought = 0;
            long last = Long.MIN_VALUE;
            for (Future<long[]> buyer : buyers) {
                long[] result = buyer.get();
                bought += result[0];
                last = result[0] == 0 ? last : Math.max(last, result[1]);
            }
            System.out.println("sold " + bought + " " + last);
        }
    }
}
