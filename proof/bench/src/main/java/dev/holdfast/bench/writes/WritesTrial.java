package dev.holdfast.bench.writes;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.Peer.PeerLock;
import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.MeasuredPage;
import dev.holdfast.bench.report.Table;
import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.ChildJvm;
import dev.holdfast.testbed.ChildProcess;
import dev.holdfast.testbed.ServerMissingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a lock makes its server write, counted by the server itself, for Holdfast and the other libraries of that store.
 *
 * <pre>
 *   counters ─► clients connect ─► a few times  ─► clients close ─► counters   cost of connecting
 *   counters ─► clients connect ─► many times   ─► clients close ─► counters   the same, and that of many
 * </pre>
 *
 * <p>The difference of both, for each time, is one value; a cell has the median of several. The servers of all stores run at
 * the same time, since a count does not depend on how fast anything is.
 */
public final class WritesTrial {
    private static final Duration PATIENCE = Duration.ofMinutes(15);
    private static final int CONTROL_BYTES = 10_000;
    /** MariaDB's table grows by extents, and by a page for each of these values. */
    private static final int MOST_OF_CONTROL = 3;

    private static final int HELD = 1_000;
    private static final int HISTORY = 20_000;
    /** Locks are renewed after each third of 30 s. The first renewal of some may cost more than those that follow. */
    private static final Duration ONE_RENEWAL = Duration.ofSeconds(15);

    private static final Duration THREE_RENEWALS = Duration.ofSeconds(35);
    private static final int RENEWALS = 2;
    /** What is renewed by its library each 10 s. */
    private static final Set<String> RENEWED =
            Set.of(Peers.HOLDFAST, Peers.UNLOGGED, "redisson", "curator", Peers.JETCD);
    /** Variants of Holdfast and of others that write what the plain ones do, and those with a connection for each lock. */
    private static final Set<String> LEFT_OUT =
            Set.of(Peers.CEILING, Peers.AWAIT_RELEASE, Peers.STRICT_FIFO, Peers.NO_HAND_OVER, "curator-per-thread");

    private static final Set<String> ONE_CONNECTION_EACH =
            Set.of(Peers.FLOOR, "pg_advisory_lock", "GET_LOCK", "select-for-update", Peers.SESSION);
    /** A spread above it is shown. */
    private static final double STEADY = 0.1;
    /** A spread below these is what the server does besides. */
    private static final double FEW_BYTES = 25;

    private static final double LITTLE = 0.1;

    private final StoreKind store;
    private final Counters counters;
    private final int windows;
    private final Map<String, Table> tables = new LinkedHashMap<>();

    private WritesTrial(StoreKind store, Counters counters, int windows) {
        this.store = store;
        this.counters = counters;
        this.windows = windows;
    }

    /**
     * Runs it on every store that this machine has a server for, and writes the files.
     *
     * @param folder of the measured figures
     * @param windows how many values a cell is the median of; with one, of few locks and libraries, and none is renewed
     * @return whether every control counted what it wrote
     */
    public static boolean run(Path folder, int windows, List<StoreKind> stores) throws IOException {
        boolean sound = true;
        Files.createDirectories(folder);
        Path scratch = TemporaryFolder.make();
        Map<StoreKind, ChildProcess> running = new LinkedHashMap<>();
        try {
            for (StoreKind store : stores) {
                ChildJvm jvm = ChildJvm.main(WritesTrial.class)
                        .flags("--enable-native-access=ALL-UNNAMED", "-Dslf4j.internal.verbosity=ERROR")
                        .args(store.name(), folder.toString(), Integer.toString(windows));
                try {
                    if (store == StoreKind.SQLITE) {
                        FileCalls.preload(jvm, scratch);
                    }
                    running.put(store, jvm.start());
                } catch (ServerMissingException missing) {
                    System.out.println(store.title() + " is left out: " + missing.getMessage());
                }
            }
            for (Map.Entry<StoreKind, ChildProcess> each : running.entrySet()) {
                boolean failed = each.getValue().waitFor(PATIENCE) != 0;
                each.getValue().lines().forEach(System.out::println);
                if (failed) {
                    System.out.println(each.getValue().story());
                }
                sound &= !failed;
            }
        } finally {
            running.values().forEach(ChildProcess::close);
            TemporaryFolder.delete(scratch);
        }
        MeasuredPage.write(folder);
        return sound;
    }

    /** One store, in a JVM of its own: STORE FOLDER WINDOWS. */
    public static void main(String[] args) throws Exception {
        StoreKind store = StoreKind.valueOf(args[0]);
        boolean sound;
        try (Counters counters = Counters.of(store)) {
            WritesTrial trial = new WritesTrial(store, counters, Integer.parseInt(args[2]));
            sound = trial.run();
            trial.tables.forEach(
                    (title, table) -> System.out.printf("%n%s: %s%n%n%s", store.title(), title, table.toText()));
            MeasuredPage.write(Path.of(args[1]), store, MeasuredPage.Trial.WRITES, counters.settings(), trial.tables);
        } catch (ServerMissingException missing) {
            System.out.println(store.title() + " is left out: " + missing.getMessage());
            sound = true;
        }
        System.exit(sound ? 0 : 1);
    }

    private boolean run() throws Exception {
        boolean sound = control();
        List<PeerKind> peers = Peers.on(store).stream()
                .filter(peer -> brief() ? RENEWED.contains(peer.id()) : !LEFT_OUT.contains(peer.id()))
                .toList();
        Table kept = null; // first, when nothing is there that runs out meanwhile
        for (PeerKind peer : peers) {
            if (!ONE_CONNECTION_EACH.contains(peer.id())) {
                kept = row(kept, title(peer), List.of(kept(peer)));
            }
        }
        add("what a lock keeps", kept);
        for (Step step : Step.values()) {
            Table table = null;
            for (PeerKind peer : peers) {
                if (peer.hasTry() || step != Step.REFUSED) {
                    table = row(table, title(peer), values(step, peer));
                }
            }
            add(step.title, table);
        }
        Table renewed = null;
        for (PeerKind peer : peers) {
            if (!brief() && RENEWED.contains(peer.id())) {
                renewed = row(renewed, title(peer), renewals(peer));
            }
        }
        add(HELD + " locks held for 10 s, which renews them once", renewed);
        Table history = null;
        for (PeerKind peer : peers) {
            if (!brief() && !counters.cleaning().isEmpty()) {
                history = row(history, title(peer), List.of(history(peer)));
            }
        }
        add("%,d times lock + unlock".formatted(HISTORY), history);
        return sound;
    }

    private void add(String title, @Nullable Table table) {
        if (table != null) {
            tables.put(title, table);
        }
    }

    /** Every counter must count what is known: so many bytes and no more than a part besides, and one of everything else. */
    private boolean control() {
        counters.write(CONTROL_BYTES);
        Map<String, Double> keptBefore = counters.kept();
        Map<String, Double> before = counters.counted();
        int controls = brief() ? 200 : 500; // fewer are lost in the extents by which MariaDB's table grows
        for (int i = 0; i < controls; i++) {
            counters.write(CONTROL_BYTES);
        }
        Map<String, Double> written = per(controls, before, counters.counted());
        written.putAll(per(controls, keptBefore, counters.kept()));
        add("control: %,d bytes in one commit".formatted(CONTROL_BYTES), row(null, "control", List.of(written)));
        boolean sound = true;
        for (Map.Entry<String, Double> figure : written.entrySet()) {
            boolean bytes = figure.getKey().contains("bytes");
            double least = bytes ? CONTROL_BYTES : 1;
            if (figure.getValue() < 0.9 * least || figure.getValue() > MOST_OF_CONTROL * least && bytes) {
                System.out.printf("%s: %s does not count: %s%n", store.title(), figure.getKey(), figure.getValue());
                sound = false;
            }
        }
        return sound;
    }

    private List<Map<String, Double>> values(Step step, PeerKind peer) throws Exception {
        int many = step == Step.HANDED_OVER ? 30 : brief() ? 50 : cycles();
        int few = step == Step.HANDED_OVER ? many / 5 : Math.max(many / 5, Step.NAMES);
        step.run(peer, counters.url(), few); // makes tables, rows and nodes
        List<Map<String, Double>> values = new ArrayList<>();
        for (int i = 0; i < windows; i++) {
            Map<String, Double> start = counters.counted();
            step.run(peer, counters.url(), few);
            Map<String, Double> between = counters.counted();
            step.run(peer, counters.url(), few + many);
            Map<String, Double> end = counters.counted();
            values.add(per(many, per(1, start, between), per(1, between, end)));
        }
        return values;
    }

    private boolean brief() {
        return windows == 1;
    }

    /** SQLite writes its log back after 1,000 pages, which is to happen several times. */
    private int cycles() {
        return switch (store) {
            case SQLITE -> 4_000;
            case REDIS, MARIADB -> 400;
            default -> 200;
        };
    }

    /** Of each lock while it is held, and after it was released. */
    private Map<String, Double> kept(PeerKind peer) throws Exception {
        Map<String, Double> figures = new TreeMap<>();
        try (Peer client = peer.connect(counters.url(), 1)) {
            PeerLock first = client.open("first", Peer.Mode.EXCLUSIVE);
            first.acquire(); // makes what they share
            first.release();
            Map<String, Double> before = counters.kept();
            List<PeerLock> held = Step.hold(client, peer, HELD);
            per(HELD, before, counters.kept()).forEach((name, value) -> figures.put("held: " + name, value));
            release(held);
            Map<String, Double> after = Quiet.after(counters::kept);
            per(HELD, before, after).forEach((name, value) -> figures.put("released: " + name, value));
        }
        return figures;
    }

    /** By how much the files have grown, and what of that is left when history is taken away. */
    private Map<String, Double> history(PeerKind peer) throws Exception {
        counters.cleaning().values().forEach(Runnable::run);
        Map<String, Double> before = counters.kept();
        Step.KNOWN_NAME.run(peer, counters.url(), HISTORY);
        Map<String, Double> figures = new LinkedHashMap<>(per(1, before, counters.kept()));
        counters.cleaning().forEach((how, step) -> {
            step.run();
            per(1, before, counters.kept()).forEach((name, value) -> figures.put(name + ", " + how, value));
        });
        return figures;
    }

    private List<Map<String, Double>> renewals(PeerKind peer) throws Exception {
        holdFor(peer, Duration.ZERO); // makes what is there afterwards
        List<Map<String, Double>> values = new ArrayList<>();
        for (int i = 0; i < windows; i++) {
            Map<String, Double> start = counters.counted();
            holdFor(peer, ONE_RENEWAL);
            Map<String, Double> between = counters.counted();
            holdFor(peer, THREE_RENEWALS);
            Map<String, Double> end = counters.counted();
            values.add(per(RENEWALS, per(1, start, between), per(1, between, end)));
        }
        return values;
    }

    private void holdFor(PeerKind peer, Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        try (Peer client = peer.connect(counters.url(), 1)) {
            List<PeerLock> held = Step.hold(client, peer, HELD);
            Schedule.pause(Duration.ofNanos(end - System.nanoTime()));
            release(held);
        }
    }

    private static void release(List<PeerLock> held) throws Exception {
        for (PeerLock lock : held) {
            lock.release();
        }
    }

    private static Map<String, Double> per(int times, Map<String, Double> before, Map<String, Double> after) {
        Map<String, Double> each = new TreeMap<>();
        after.forEach((name, value) -> each.put(name, (value - before.getOrDefault(name, 0.0)) / times));
        return each;
    }

    private static Table row(@Nullable Table table, String title, List<Map<String, Double>> values) {
        List<String> names = List.copyOf(values.get(0).keySet());
        Table filled = table;
        if (filled == null) {
            List<String> headings = new ArrayList<>(List.of(""));
            headings.addAll(names);
            filled = new Table(headings);
        }
        List<String> cells = new ArrayList<>(List.of(title));
        for (String name : names) {
            cells.add(cell(
                    name.contains("bytes"),
                    values.stream()
                            .map(value -> value.getOrDefault(name, 0.0))
                            .sorted()
                            .toList()));
        }
        return filled.row(cells);
    }

    /** The median, and from where to where the values are if they are more than 10 % of it apart. */
    private static String cell(boolean bytes, List<Double> sorted) {
        double least = sorted.get(0);
        double most = sorted.get(sorted.size() - 1);
        double median = sorted.get(sorted.size() / 2);
        boolean steady = most - least <= Math.max(STEADY * Math.abs(median), bytes ? FEW_BYTES : LITTLE);
        return figure(bytes, median) + (steady ? "" : " (%s–%s)".formatted(figure(bytes, least), figure(bytes, most)));
    }

    private static String figure(boolean bytes, double value) {
        double rounded = bytes || Math.abs(value) >= 10 ? Math.rint(value) : Math.rint(value * 10) / 10;
        return rounded == 0 ? "0" : (rounded == Math.rint(rounded) ? "%,.0f" : "%,.1f").formatted(rounded);
    }

    private static String title(PeerKind peer) {
        return peer.role() == Role.HOLDFAST ? peer.id() : peer.title();
    }
}
