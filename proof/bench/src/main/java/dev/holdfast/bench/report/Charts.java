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
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The pictures of the results: for each store the waits for a free lock, turns per second, waits for one lock and
 * processor time; and the waits for a free lock on all servers together. Each is an SVG and a PNG. What they show is
 * kept beside them, in a file for each store, so they can be drawn again at any time.
 */
public final class Charts {
    private static final List<StoreKind> SERVERS =
            List.of(StoreKind.REDIS, StoreKind.ZOOKEEPER, StoreKind.ETCD, StoreKind.POSTGRESQL, StoreKind.MARIADB);

    /** The file name of the picture with all servers. */
    private static final String ALL_SERVERS = "bench-free-lock";

    /** The axis of a free lock is the same for all stores, so that their pictures can be compared. */
    private static final double LEAST_MILLIS = 0.1;

    private static final double MOST_MILLIS = 100;
    private static final double LEAST_MICROS = 1;
    private static final double MOST_MICROS = 100_000;
    /** A logarithmic axis has no place for 0. */
    private static final double LEAST_WAIT_MILLIS = 1e-5;

    /** From few threads that want the lock to many. */
    private static final List<String> BY_THREADS =
            List.of(Workload.ONE_2X1, Workload.ONE_4X4, Workload.WAITING_20, Workload.ONE_2X16, Workload.WAITING_200);

    /** What the pictures of a store show, by the end of their file names. */
    private static final Map<String, String> TITLES = titles();

    private final Path folder;
    private final DrawnRows rows;

    /** Pictures in a folder. */
    public Charts(Path folder) {
        this.folder = folder;
        this.rows = new DrawnRows(folder);
    }

    /** Keeps what the pictures of a store show, in place of what an earlier run measured. */
    void keep(Results results, StoreKind store) throws IOException {
        rows.write(results, store, Charts::isDrawn);
    }

    private static Map<String, String> titles() {
        Map<String, String> titles = new LinkedHashMap<>();
        titles.put("free-lock", "the wait for a free lock");
        titles.put("throughput", "turns per second");
        titles.put("waits", "the wait for one lock");
        titles.put("cost", "processor time for each turn");
        return titles;
    }

    private static boolean isDrawn(String workload) {
        return workload.equals(ServiceWorkloads.SERVICE_1X1) || BY_THREADS.contains(workload);
    }

    /** Draws the pictures of a store for which there are rows; returns those that are in the folder then. */
    public Map<String, String> draw(StoreKind store) throws IOException {
        List<DrawnRow> all = rows.read(store);
        List<DrawnRow> free = freeLocks(all);
        if (!free.isEmpty()) {
            RowChart chart = freeLock(store.title() + ": the wait for a free lock, at a service's pace");
            free.forEach(row -> addFreeLock(chart, row));
            save(chart.picture(), store, "free-lock");
        }
        List<String> workloads = BY_THREADS.stream()
                .filter(workload -> !rowsOf(workload, all).isEmpty())
                .toList();
        if (workloads.size() > 1) {
            save(throughput(store, all, workloads), store, "throughput");
        }
        List<DrawnRow> contended = rowsOf(Workload.ONE_2X16, all);
        if (!contended.isEmpty()) {
            save(waits(store, contended), store, "waits");
            save(cost(store, contended), store, "cost");
        }
        return drawn(store);
    }

    /** The file names, without endings, of the pictures of a store that are in the folder, by title. */
    Map<String, String> drawn(StoreKind store) {
        Map<String, String> drawn = new LinkedHashMap<>();
        TITLES.forEach((what, title) -> {
            if (Files.exists(folder.resolve(name(store, what) + ".svg"))) {
                drawn.put(title, name(store, what));
            }
        });
        return drawn;
    }

    /** Draws the waits for a free lock on all servers whose rows are in the folder; false if there are none. */
    public boolean drawAllServers() throws IOException {
        RowChart chart = freeLock("The wait for a free lock, at a service's pace");
        for (StoreKind store : SERVERS) {
            List<DrawnRow> shown = freeLocks(rows.read(store)).stream()
                    .filter(row -> row.peer().role() != Role.HOLDFAST
                            || row.peer().id().equals(Peers.HOLDFAST))
                    .toList();
            if (!shown.isEmpty()) {
                chart.addTitle(store.title());
                shown.forEach(row -> addFreeLock(chart, row));
            }
        }
        if (chart.isEmpty()) {
            return false;
        }
        chart.picture().save(folder, ALL_SERVERS);
        return true;
    }

    /**
     * Draws figures by a whole number, a line for each series, on an axis that begins at 0.
     *
     * @param unit what is counted by the number
     */
    public static void drawLines(
            Path folder,
            String name,
            String title,
            String yTitle,
            String unit,
            Map<String, Map<Integer, Double>> series)
            throws IOException {
        List<Integer> numbers = series.values().stream()
                .flatMap(points -> points.keySet().stream())
                .distinct()
                .sorted()
                .toList();
        LineChart chart = new LineChart(
                        title,
                        yTitle,
                        numbers.stream().map(number -> number + " " + unit).toList())
                .fromZero();
        int line = 0;
        for (Map.Entry<String, Map<Integer, Double>> each : series.entrySet()) {
            chart.add(
                    each.getKey(),
                    SeriesStyle.ofNumber(line++),
                    numbers.stream()
                            .map(number -> each.getValue().getOrDefault(number, Double.NaN))
                            .toList());
        }
        chart.picture().save(folder, name);
    }

    private static RowChart freeLock(String title) {
        return new RowChart(
                title,
                "ms from the moment the turn was due, one thread: ● half of the turns wait less, ■ 99 of 100 wait less",
                LEAST_MILLIS,
                MOST_MILLIS);
    }

    private static List<DrawnRow> freeLocks(List<DrawnRow> all) {
        return rowsOf(ServiceWorkloads.SERVICE_1X1, all).stream()
                .filter(row -> !Double.isNaN(row.waitAt(50)))
                .toList();
    }

    private static void addFreeLock(RowChart chart, DrawnRow row) {
        double median = row.waitAt(50);
        double most = row.waitAt(99);
        String label = Double.isNaN(most) ? brief(median) : brief(median) + " · " + brief(most);
        chart.add(row.peer().title(), style(row), median, most, label);
    }

    private static Picture throughput(StoreKind store, List<DrawnRow> all, List<String> workloads) {
        List<String> categories = workloads.stream()
                .map(workload -> rowsOf(workload, all).get(0).contenders() + " threads")
                .toList();
        LineChart chart = new LineChart(
                        store.title() + ": turns per second on one lock", "turns per second", categories)
                .logarithmic();
        for (PeerKind peer : peersWithLines(all)) {
            List<Double> values = workloads.stream()
                    .map(workload -> value(all, workload, peer, DrawnRow::perSecond))
                    .toList();
            chart.add(peer.title(), SeriesStyle.of(peer, Peers.on(store)), values);
        }
        return chart.picture();
    }

    private static Picture waits(StoreKind store, List<DrawnRow> contended) {
        LineChart chart = new LineChart(
                        store.title() + ": how long 32 threads of 2 processes wait for one lock",
                        "ms; this share of the waits is shorter",
                        DrawnRow.PERCENTILES.stream()
                                .map(percentile -> Wanted.plain(percentile) + " %")
                                .toList())
                .logarithmic();
        for (PeerKind peer : peersWithLines(contended)) {
            List<Double> values = DrawnRow.PERCENTILES.stream()
                    .map(percentile -> value(
                            contended,
                            Workload.ONE_2X16,
                            peer,
                            row -> Math.max(LEAST_WAIT_MILLIS, row.waitAt(percentile))))
                    .toList();
            chart.add(peer.title(), SeriesStyle.of(peer, Peers.on(store)), values);
        }
        return chart.picture();
    }

    private static Picture cost(StoreKind store, List<DrawnRow> contended) {
        boolean server = SERVERS.contains(store);
        RowChart chart = new RowChart(
                store.title() + ": processor time for each turn, one lock, 32 threads of 2 processes",
                server ? "µs for each turn: ● server, ■ clients" : "µs for each turn",
                LEAST_MICROS,
                MOST_MICROS);
        for (DrawnRow row : contended) {
            double clients = row.clientMicros();
            if (server) {
                chart.add(
                        row.peer().title(),
                        style(row),
                        row.serverMicros(),
                        clients,
                        brief(row.serverMicros()) + " · " + brief(clients));
            } else {
                chart.add(row.peer().title(), style(row), clients, Double.NaN, brief(clients));
            }
        }
        return chart.picture();
    }

    /** The peers that get a line. Other settings of Holdfast would hide the lines of others; the tables have them. */
    private static List<PeerKind> peersWithLines(List<DrawnRow> all) {
        return all.stream()
                .map(DrawnRow::peer)
                .filter(peer -> peer.role() != Role.HOLDFAST
                        || peer.id().equals(Peers.HOLDFAST)
                        || peer.id().equals(Peers.STRICT_FIFO))
                .distinct()
                // the last line is drawn above the others
                .sorted(Comparator.comparing(peer -> peer.id().equals(Peers.HOLDFAST)))
                .toList();
    }

    private static double value(List<DrawnRow> all, String workload, PeerKind peer, ToDoubleFunction<DrawnRow> figure) {
        return rowsOf(workload, all).stream()
                .filter(row -> row.peer().equals(peer))
                .mapToDouble(figure)
                .findFirst()
                .orElse(Double.NaN);
    }

    private static List<DrawnRow> rowsOf(String workload, List<DrawnRow> all) {
        return all.stream().filter(row -> row.workload().equals(workload)).toList();
    }

    private static SeriesStyle style(DrawnRow row) {
        return SeriesStyle.of(row.peer(), Peers.on(row.store()));
    }

    private void save(Picture picture, StoreKind store, String what) throws IOException {
        picture.save(folder, name(store, what));
    }

    private static String name(StoreKind store, String what) {
        return "bench-" + store.id() + "-" + what;
    }

    private static String brief(double number) {
        return number >= 100 ? String.format(Locale.ROOT, "%,.0f", number) : Ratio.brief(number);
    }
}
