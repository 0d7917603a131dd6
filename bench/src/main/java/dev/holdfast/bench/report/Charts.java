package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.ServiceWorkloads;
import dev.holdfast.bench.run.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * The pictures of the results: for each store the waits for a free lock, turns per second, waits for one lock and
 * processor time; and the waits for a free lock on all stores together. Each is an SVG and a PNG. What they show is
 * kept beside them, in a file for each store, so they can be drawn again at any time.
 */
public final class Charts {
    /** What is drawn of all stores together. */
    public static final String FREE_LOCKS = "bench-free-lock";

    private static final String PREFIX = "bench-";
    private static final String ROWS = ".tsv";
    /** The axis of a free lock is the same for all stores, so that their pictures can be compared. */
    private static final double LEAST_MILLIS = 0.1;

    private static final double MOST_MILLIS = 100;
    private static final double LEAST_MICROS = 1;
    private static final double MOST_MICROS = 10_000;

    /** From few threads that want the lock to many. */
    private static final List<String> BY_THREADS =
            List.of(Workload.ONE_2X1, Workload.ONE_4X4, Workload.WAITING_20, Workload.ONE_2X16, Workload.WAITING_200);

    private static final Set<String> WORKLOADS =
            Set.copyOf(Stream.concat(Stream.of(ServiceWorkloads.SERVICE_1X1), BY_THREADS.stream())
                    .toList());

    private final Path folder;

    /** Pictures in a folder. */
    public Charts(Path folder) {
        this.folder = folder;
    }

    /** Keeps what the pictures of a store show, in place of what an earlier run measured. */
    void keep(Results results, StoreKind store) throws IOException {
        List<String> lines = new ArrayList<>(List.of(DrawnRow.head()));
        results.cells().stream()
                .filter(cell -> cell.store() == store
                        && cell.isSound()
                        && WORKLOADS.contains(cell.workload().id()))
                // the ceiling would press all others together
                .filter(cell -> cell.peer().role() != Role.CEILING)
                .map(DrawnRow::of)
                .filter(row -> row.perSecond() > 0)
                .forEach(row -> lines.add(row.toLine()));
        if (lines.size() == 1) {
            Files.deleteIfExists(file(store));
        } else {
            Files.createDirectories(folder);
            Files.write(file(store), lines);
        }
    }

    private Path file(StoreKind store) {
        return folder.resolve(PREFIX + store.id() + ROWS);
    }

    private List<DrawnRow> kept(StoreKind store) throws IOException {
        return Files.exists(file(store))
                ? Files.readAllLines(file(store)).stream()
                        .skip(1)
                        .map(DrawnRow::parse)
                        .toList()
                : List.of();
    }

    /** Draws what there is to draw of a store; returns the names of the files without their endings, by title. */
    public Map<String, String> draw(StoreKind store) throws IOException {
        Map<String, String> drawn = new LinkedHashMap<>();
        List<DrawnRow> rows = kept(store);
        List<DrawnRow> free = of(ServiceWorkloads.SERVICE_1X1, rows);
        if (!free.isEmpty()) {
            RowChart chart = freeLock(capital(store.title()) + ": the wait for a free lock, at a service's pace");
            free.forEach(row -> addFreeLock(chart, row));
            save(chart.picture(), store, "free-lock", "the wait for a free lock", drawn);
        }
        List<String> places =
                BY_THREADS.stream().filter(id -> !of(id, rows).isEmpty()).toList();
        if (places.size() > 1) {
            save(throughput(store, rows, places), store, "throughput", "turns per second", drawn);
        }
        List<DrawnRow> contended = of(Workload.ONE_2X16, rows);
        if (!contended.isEmpty()) {
            save(waits(store, contended), store, "waits", "the wait for one lock", drawn);
            save(cost(store, contended), store, "cost", "processor time for each turn", drawn);
        }
        return drawn;
    }

    /** Draws the waits for a free lock on all servers whose rows are in the folder, if there are any. */
    public void drawFreeLocks() throws IOException {
        RowChart chart = freeLock("The wait for a free lock, at a service's pace");
        for (StoreKind store : List.of(StoreKind.REDIS, StoreKind.ZOOKEEPER, StoreKind.POSTGRESQL, StoreKind.MARIADB)) {
            List<DrawnRow> rows = of(ServiceWorkloads.SERVICE_1X1, kept(store)).stream()
                    .filter(Charts::isOfEachLibrary)
                    .toList();
            if (!rows.isEmpty()) {
                chart.addTitle(store.title());
                rows.forEach(row -> addFreeLock(chart, row));
            }
        }
        if (!chart.isEmpty()) {
            chart.picture().save(folder, FREE_LOCKS);
        }
    }

    /** Draws figures by a whole number, a line for each series, on an axis that begins at 0. */
    public static void drawLines(
            Path folder, String name, String title, String yTitle, Map<String, Map<Integer, Double>> series)
            throws IOException {
        List<Integer> numbers = series.values().stream()
                .flatMap(points -> points.keySet().stream())
                .distinct()
                .sorted()
                .toList();
        LineChart chart = new LineChart(
                        title, "", yTitle, numbers.stream().map(String::valueOf).toList())
                .fromZero();
        int place = 0;
        for (Map.Entry<String, Map<Integer, Double>> line : series.entrySet()) {
            chart.add(
                    line.getKey(),
                    Look.ofPlace(place++),
                    numbers.stream()
                            .map(number -> line.getValue().getOrDefault(number, Double.NaN))
                            .toList());
        }
        chart.picture().save(folder, name);
    }

    private static RowChart freeLock(String title) {
        return new RowChart(
                title,
                "ms from the moment the turn was due to the lock, one thread: ● median, ■ 99 of 100 wait less",
                LEAST_MILLIS,
                MOST_MILLIS);
    }

    private static void addFreeLock(RowChart chart, DrawnRow row) {
        double median = row.waitAt(50);
        double most = row.waitAt(99);
        String words = Double.isNaN(most) ? brief(median) : brief(median) + " · " + brief(most);
        chart.add(row.peer().title(), look(row), median, most, words);
    }

    private static Picture throughput(StoreKind store, List<DrawnRow> rows, List<String> workloads) {
        List<String> places = workloads.stream()
                .map(id -> of(id, rows).get(0).contenders() + " threads")
                .toList();
        LineChart chart = new LineChart(
                        capital(store.title()) + ": turns per second on one lock", "", "turns per second", places)
                .logarithmic();
        for (PeerKind peer : libraries(rows)) {
            List<Double> values = workloads.stream()
                    .map(id -> value(rows, id, peer, DrawnRow::perSecond))
                    .toList();
            chart.add(peer.title(), Look.of(peer, Peers.on(store)), values);
        }
        return chart.picture();
    }

    private static Picture waits(StoreKind store, List<DrawnRow> rows) {
        LineChart chart = new LineChart(
                        capital(store.title()) + ": how long 32 threads of 2 processes wait for one lock",
                        "",
                        "ms, lower is better",
                        List.of("half of the waits", "90 %", "99 %", "99.9 % are shorter"))
                .logarithmic();
        for (PeerKind peer : libraries(rows)) {
            List<Double> values = DrawnRow.PERCENTILES.stream()
                    .map(percentile -> value(rows, Workload.ONE_2X16, peer, row -> row.waitAt(percentile)))
                    .toList();
            chart.add(peer.title(), Look.of(peer, Peers.on(store)), values);
        }
        return chart.picture();
    }

    private static Picture cost(StoreKind store, List<DrawnRow> rows) {
        boolean server = store != StoreKind.SQLITE && store != StoreKind.MEMORY;
        RowChart chart = new RowChart(
                capital(store.title()) + ": processor time for each turn, one lock, 32 threads of 2 processes",
                server ? "µs for each turn: ● server, ■ clients" : "µs for each turn",
                LEAST_MICROS,
                MOST_MICROS);
        for (DrawnRow row : rows) {
            double clients = Math.max(LEAST_MICROS, row.clientMicros());
            if (server) {
                double ofServer = Math.max(LEAST_MICROS, row.serverMicros());
                chart.add(row.peer().title(), look(row), ofServer, clients, brief(ofServer) + " · " + brief(clients));
            } else {
                chart.add(row.peer().title(), look(row), clients, Double.NaN, brief(clients));
            }
        }
        return chart.picture();
    }

    /** Those that get a line: the other settings of Holdfast are in the tables, as lines they would only hide others. */
    private static List<PeerKind> libraries(List<DrawnRow> rows) {
        return rows.stream()
                .map(DrawnRow::peer)
                .filter(peer -> peer.role() != Role.HOLDFAST
                        || peer.id().equals(Peers.HOLDFAST)
                        || peer.id().equals(Peers.STRICT_FIFO))
                .distinct()
                // the last line is drawn above the others
                .sorted(Comparator.comparing(peer -> peer.id().equals(Peers.HOLDFAST)))
                .toList();
    }

    private static boolean isOfEachLibrary(DrawnRow row) {
        return row.peer().role() != Role.HOLDFAST || row.peer().id().equals(Peers.HOLDFAST);
    }

    private static double value(
            List<DrawnRow> rows, String workload, PeerKind peer, ToDoubleFunction<DrawnRow> figure) {
        return of(workload, rows).stream()
                .filter(row -> row.peer().equals(peer))
                .mapToDouble(figure)
                .findFirst()
                .orElse(Double.NaN);
    }

    private static List<DrawnRow> of(String workload, List<DrawnRow> rows) {
        return rows.stream().filter(row -> row.workload().equals(workload)).toList();
    }

    private static Look look(DrawnRow row) {
        return Look.of(row.peer(), Peers.on(row.store()));
    }

    private void save(Picture picture, StoreKind store, String what, String title, Map<String, String> drawn)
            throws IOException {
        String name = PREFIX + store.id() + "-" + what;
        picture.save(folder, name);
        drawn.put(title, name);
    }

    private static String brief(double number) {
        return number >= 100 ? String.format(Locale.ROOT, "%,.0f", number) : Ratio.brief(number);
    }

    private static String capital(String title) {
        return Character.toUpperCase(title.charAt(0)) + title.substring(1);
    }
}
