package dev.holdfast.bench.report;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import dev.holdfast.bench.run.Workload;
import java.awt.BasicStroke;
import java.awt.Color;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;

/** Three pictures for each store, each as SVG and as PNG. */
public final class Charts {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 520;
    private static final int DOTS_PER_INCH = 110;
    private static final double NANOS_PER_MILLI = 1e6;
    /** Where a logarithmic axis begins. */
    private static final double SMALLEST_MILLIS = 1e-3;

    private static final double SMALLEST_MICROS = 1;
    private static final List<Double> PERCENTILES = List.of(25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0);

    /** From few who wait to many. */
    private static final List<String> BY_WAITERS =
            List.of(Workload.ONE_2X1, Workload.ONE_4X4, Workload.WAITING_20, Workload.ONE_2X16, Workload.WAITING_200);

    private final Results results;
    private final Path folder;

    /** Pictures of the results, in that folder. */
    public Charts(Results results, Path folder) {
        this.results = results;
        this.folder = folder;
    }

    /** Draws what there is to draw of a store; returns the names of the files without their endings, by title. */
    public Map<String, String> draw(StoreKind store) throws IOException {
        Files.createDirectories(folder);
        Map<String, String> drawn = new LinkedHashMap<>();
        Map<String, Map<Integer, Double>> throughput = throughputByWaiters(store);
        if (!throughput.isEmpty()) {
            save(throughput(store, throughput), "bench-" + store.id() + "-throughput", "throughput by waiters", drawn);
        }
        if (hasRows(store, Workload.ONE_2X16)) {
            save(waits(store), "bench-" + store.id() + "-waits", "wait distribution", drawn);
            save(cost(store), "bench-" + store.id() + "-cost", "cost per operation", drawn);
        }
        return drawn;
    }

    /** Draws how figures grow, one line for each series: a logarithmic x axis, and a y axis from 0; as SVG and PNG. */
    public static void drawLines(
            Path folder,
            String name,
            String title,
            String xTitle,
            String yTitle,
            Map<String, Map<Integer, Double>> series)
            throws IOException {
        Files.createDirectories(folder);
        XYChart chart = lines(title, xTitle, yTitle);
        addLines(chart, series);
        chart.getStyler().setYAxisLogarithmic(false).setYAxisMin(0.0);
        save(folder, chart, name);
    }

    private static void addLines(XYChart chart, Map<String, Map<Integer, Double>> series) {
        series.forEach((name, points) -> chart.addSeries(
                name,
                points.keySet().stream().mapToDouble(x -> x).toArray(),
                points.values().stream().mapToDouble(y -> y).toArray()));
        chart.getStyler().setXAxisLogarithmic(true);
    }

    private static XYChart throughput(StoreKind store, Map<String, Map<Integer, Double>> byPeer) {
        XYChart chart = lines(
                store.title() + ": one lock, throughput by threads that want it",
                "threads in all: 2 × 1, 4 × 4, 2 × 16",
                "turns/s");
        addLines(chart, byPeer);
        return chart;
    }

    /** For each peer, how many want the lock and how many turns there are; only where that makes a line. */
    private Map<String, Map<Integer, Double>> throughputByWaiters(StoreKind store) {
        Map<String, Map<Integer, Double>> byPeer = new LinkedHashMap<>();
        for (String workload : BY_WAITERS) {
            for (Cell cell : measured(store, workload)) {
                byPeer.computeIfAbsent(cell.peer().id(), peer -> new TreeMap<>())
                        .put(cell.workload().load().contenders(), cell.median(Sample::perSecond));
            }
        }
        byPeer.values().removeIf(points -> points.size() < 2);
        return byPeer;
    }

    private CategoryChart waits(StoreKind store) {
        CategoryChart chart =
                bars(store.title() + ": one lock, 2 processes × 16 threads, how long they wait", "ms", SMALLEST_MILLIS);
        chart.getStyler().setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Line);
        chart.getStyler().setOverlapped(true);
        List<String> percentiles = PERCENTILES.stream()
                .map(percentile -> Wanted.plain(percentile) + " %")
                .toList();
        for (Cell cell : measured(store, Workload.ONE_2X16)) {
            Histogram waits = cell.waits();
            List<Double> millis = PERCENTILES.stream()
                    .map(percentile -> waits.getValueAtPercentile(percentile) / NANOS_PER_MILLI)
                    .map(value -> Math.max(SMALLEST_MILLIS, value))
                    .toList();
            chart.addSeries(cell.peer().id(), percentiles, millis);
        }
        return chart;
    }

    private CategoryChart cost(StoreKind store) {
        CategoryChart chart = bars(
                store.title() + ": processor time per turn, one lock, 2 processes × 16 threads", "µs", SMALLEST_MICROS);
        chart.getStyler().setXAxisLabelRotation(30);
        List<Cell> cells = measured(store, Workload.ONE_2X16);
        List<String> names = cells.stream().map(cell -> cell.peer().id()).toList();
        chart.addSeries("clients", names, atLeastOne(cells, Sample::clientMicros));
        if (store != StoreKind.SQLITE) {
            chart.addSeries("server", names, atLeastOne(cells, Sample::serverMicros));
        }
        return chart;
    }

    /** Bars on a logarithmic axis begin at 1. */
    private static List<Double> atLeastOne(List<Cell> cells, java.util.function.ToDoubleFunction<Sample> figure) {
        return cells.stream()
                .map(cell -> Math.max(SMALLEST_MICROS, cell.median(figure)))
                .toList();
    }

    private static CategoryChart bars(String title, String yTitle, double yMin) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .yAxisTitle(yTitle)
                .build();
        chart.getStyler().setYAxisMin(yMin);
        style(chart.getStyler());
        return chart;
    }

    private static void style(AxesChartStyler styler) {
        styler.setYAxisLogarithmic(true);
        styler.setLegendPosition(LegendPosition.OutsideE);
        styler.setLegendLayout(LegendLayout.Vertical);
        styler.setChartBackgroundColor(Color.WHITE);
        // dashes, which are the default, become thousands of strokes in a vector file
        styler.setPlotGridLinesStroke(new BasicStroke(1));
    }

    private static XYChart lines(String title, String xTitle, String yTitle) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        return chart;
    }

    private void save(Chart<?, ?> chart, String name, String title, Map<String, String> drawn) throws IOException {
        save(folder, chart, name);
        drawn.put(title, name);
    }

    private static void save(Path folder, Chart<?, ?> chart, String name) throws IOException {
        String file = folder.resolve(name).toString();
        VectorGraphics2D drawing = new VectorGraphics2D();
        chart.paint(drawing, WIDTH, HEIGHT);
        try (OutputStream svg = Files.newOutputStream(folder.resolve(name + ".svg"))) {
            new SVGProcessor()
                    .getDocument(drawing.getCommands(), new PageSize(WIDTH, HEIGHT))
                    .writeTo(svg);
        }
        BitmapEncoder.saveBitmapWithDPI(chart, file, BitmapEncoder.BitmapFormat.PNG, DOTS_PER_INCH);
    }

    private boolean hasRows(StoreKind store, String workload) {
        return !measured(store, workload).isEmpty();
    }

    /** The sound rows of a table; the ceiling is not drawn, it would press all others together. */
    private List<Cell> measured(StoreKind store, String workload) {
        return results.cells(store, workload).stream()
                .filter(Cell::isSound)
                .filter(cell -> cell.peer().role() != Role.CEILING)
                .filter(cell -> cell.median(Sample::perSecond) > 0)
                .toList();
    }
}
