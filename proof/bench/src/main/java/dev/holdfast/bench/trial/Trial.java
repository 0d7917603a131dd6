package dev.holdfast.bench.trial;

import dev.holdfast.bench.longrun.LongTrial;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.writes.WritesTrial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** {@code ./holdfast bench recipes} and the others: runs it, exits with 1 if a promise was broken. */
public final class Trial {
    private static final int USAGE = 64;
    private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,8}");
    private static final double NANOS_PER_MILLI = 1e6;

    /** Those with a server, or files. */
    private static final List<StoreKind> STORES = Arrays.stream(StoreKind.values())
            .filter(store -> store != StoreKind.MEMORY)
            .toList();

    private Trial() {}

    /**
     * Runs one of them.
     *
     * @param args {@code recipes [SECONDS]}, {@code retain}, {@code free-lock}, {@code memcached [TURNS]}, {@code etcd [ROUNDS]},
     *     {@code writers [SECONDS]}, {@code quorum}, {@code cluster}, {@code
     *     writes [WINDOWS [STORE,STORE]]} or {@code long [PART [STORE,STORE]]}
     */
    public static void main(String[] args) throws Exception {
        String what = args.length > 0 ? args[0] : "";
        boolean kept;
        switch (what) {
            case "recipes" -> kept = RecipeTrial.run(number(args, 1, 30));
            case "retain" -> kept = RetainTrial.run();
            case "free-lock" -> kept = FreeLockTrial.run();
            case "memcached" -> kept = MemcachedTrial.run(number(args, 1, 10_000));
            case "etcd" -> kept = EtcdTrial.run(number(args, 1, 20));
            case "writers" -> kept = WritersTrial.run(Duration.ofSeconds(number(args, 1, 2)));
            case "quorum" -> kept = QuorumTrial.run();
            case "cluster" -> kept = ClusterTrial.run();
            case "writes" ->
                kept = WritesTrial.run(
                        Path.of(System.getProperty("holdfast.home", ""), "docs", "measured"),
                        number(args, 1, 3),
                        args.length > 2 ? stores(args[2]) : STORES);
            case "long" -> kept = runLong(number(args, 1, 1), args.length > 2 ? stores(args[2]) : STORES);
            default -> throw misused();
        }
        System.exit(kept ? 0 : 1);
    }

    /** Says how it is used, and does not return. */
    private static IllegalStateException misused() {
        System.err.println("usage: holdfast bench recipes [SECONDS] | retain | free-lock | memcached [TURNS]"
                + " | etcd [ROUNDS] | writers [SECONDS] | quorum | cluster"
                + " | writes [WINDOWS [STORE,STORE]] | long [PART [STORE,STORE]]; numbers from 1, stores of "
                + STORES.stream().map(StoreKind::id).collect(Collectors.joining(",")));
        System.exit(USAGE);
        return new IllegalStateException("ended");
    }

    /** A part of it measures nothing that a page shows. */
    private static boolean runLong(int part, List<StoreKind> stores) throws IOException {
        Path home = Path.of(System.getProperty("holdfast.home", ""));
        Path folder = part == 1 ? home.resolve("docs/measured") : home.resolve("target/bench/measured");
        return LongTrial.run(folder, home.resolve("docs/capacity.md"), part, stores);
    }

    private static List<StoreKind> stores(String ids) {
        List<String> wanted = List.of(ids.split(","));
        List<StoreKind> found =
                STORES.stream().filter(store -> wanted.contains(store.id())).toList();
        if (found.size() < wanted.size()) {
            throw misused();
        }
        return found;
    }

    private static int number(String[] args, int place, int otherwise) {
        if (args.length > place && !NUMBER.matcher(args[place]).matches()) {
            throw misused();
        }
        return args.length > place ? Integer.parseInt(args[place]) : otherwise;
    }

    /** The machine, and what else it did: without that the figures say nothing. */
    static void describe(String settings) throws IOException {
        System.out.printf(
                "%n%d cores, Java %s, load average %s; %s%n%n",
                Runtime.getRuntime().availableProcessors(), Runtime.version(), load(), settings);
    }

    private static String load() throws IOException {
        Path load = Path.of("/proc/loadavg");
        return Files.exists(load) ? Files.readString(load).split(" ")[0] : "unknown";
    }

    /** A row of a table in Markdown. */
    static void row(Object... cells) {
        System.out.println(Arrays.stream(cells).map(String::valueOf).collect(Collectors.joining(" | ", "| ", " |")));
    }

    /** The head of a table in Markdown. */
    static void head(String... titles) {
        row((Object[]) titles);
        row(Arrays.stream(titles)
                .map(title -> title.equals(titles[0]) ? "---" : "---:")
                .toArray());
    }

    /** A quantile of some times, in milliseconds; a dash for none. */
    static String millis(List<Long> nanos, double quantile) {
        return nanos.isEmpty() ? "–" : String.format("%.1f", quantile(nanos, quantile) / NANOS_PER_MILLI);
    }

    /** The least of some times that so many of them do not exceed, in nanoseconds; of none there is no quantile. */
    static double quantile(List<Long> nanos, double quantile) {
        List<Long> sorted = nanos.stream().sorted().toList();
        int rank = (int) Math.ceil(quantile * sorted.size());
        return sorted.get(Math.max(0, rank - 1));
    }
}
