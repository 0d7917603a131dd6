package dev.holdfast.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Draws the waits and holds of a flight recording over time: for each second in which any ended the median, the 99th
 * percentile and the longest, on a logarithmic axis, and the losses as marks.
 *
 * <pre>{@code
 * java -cp proof/bench/target/quick/classes dev.holdfast.bench.RecordingPicture minute.jfr minute.svg
 * }</pre>
 */
public final class RecordingPicture {
    private static final int WIDTH = 900;
    private static final int PANEL = 240;
    private static final int LEFT = 70;
    private static final int TOP = 50;
    private static final int GAP = 60;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double LEAST_MILLIS = 0.1;
    private static final int DECADES = 5;
    private static final Map<String, Double> LINES = new TreeMap<>(Map.of("median", 0.5, "99 %", 0.99, "longest", 1.0));
    private static final Map<String, String> COLOURS =
            Map.of("median", "#1b7837", "99 %", "#2166ac", "longest", "#b2182b");

    private final StringBuilder svg = new StringBuilder();
    private final List<RecordedEvent> events;
    private final Instant begin;
    private final long seconds;

    private RecordingPicture(List<RecordedEvent> events) {
        this.events = events;
        this.begin = events.stream()
                .map(RecordedEvent::getStartTime)
                .min(Comparator.naturalOrder())
                .orElseThrow(() -> new IllegalArgumentException("the recording has no events of Holdfast"));
        this.seconds = 1
                + events.stream()
                        .mapToLong(event -> second(event.getEndTime()))
                        .max()
                        .orElse(0);
    }

    /** Reads the recording and writes the picture. */
    public static void main(String[] args) throws IOException {
        List<RecordedEvent> ours = RecordingFile.readAllEvents(Path.of(args[0])).stream()
                .filter(event -> event.getEventType().getName().startsWith("dev.holdfast."))
                .toList();
        Files.writeString(Path.of(args[1]), new RecordingPicture(ours).draw());
    }

    private String draw() {
        int height = TOP + 2 * PANEL + GAP + 50;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">",
                WIDTH, height);
        add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>", WIDTH, height);
        panel("Waits, in ms", "Wait", TOP);
        panel("Holds, in ms", "Hold", TOP + PANEL + GAP);
        text(WIDTH / 2, height - 12, "seconds since the recording began; what ended in each second", "middle");
        return svg.append("</svg>\n").toString();
    }

    private void panel(String title, String kind, int top) {
        SortedMap<Long, List<Double>> bySecond = new TreeMap<>();
        int count = 0;
        for (RecordedEvent event : events) {
            if (isKind(event, kind)) {
                bySecond.computeIfAbsent(second(event.getEndTime()), none -> new ArrayList<>())
                        .add(event.getDuration().toNanos() / NANOS_PER_MILLI);
                count++;
            }
        }
        text(LEFT, top - 12, title + " (" + count + ")", "start");
        axes(top);
        int legend = LEFT + 320;
        for (Map.Entry<String, Double> line : LINES.entrySet()) {
            String colour = String.valueOf(COLOURS.get(line.getKey()));
            line(bySecond, line.getValue(), colour, top);
            add("<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"3\" fill=\"%s\"/>", legend, top - 17, colour);
            text(legend + 24, top - 12, line.getKey(), "start");
            legend += 110;
        }
        losses(top);
        text(legend + 24, top - 12, "▼ lost", "start");
    }

    private void axes(int top) {
        for (int decade = 0; decade <= DECADES; decade++) {
            double millis = LEAST_MILLIS * Math.pow(10, decade);
            add(
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>",
                    LEFT, WIDTH - 20, y(millis, top), y(millis, top));
            text(LEFT - 8, y(millis, top) + 4, millis < 1 ? "0.1" : String.format(Locale.ROOT, "%,.0f", millis), "end");
        }
        for (long at = 0; at <= seconds; at += 10) {
            text(x((double) at), top + PANEL + 18, Long.toString(at), "middle");
        }
    }

    private void line(SortedMap<Long, List<Double>> bySecond, double quantile, String colour, int top) {
        StringBuilder points = new StringBuilder();
        bySecond.forEach((at, millis) -> {
            List<Double> sorted = millis.stream().sorted().toList();
            int index = (int) Math.ceil(quantile * sorted.size()) - 1;
            points.append(
                    String.format(Locale.ROOT, "%.1f,%.1f ", x(at + 0.5), y(sorted.get(Math.max(0, index)), top)));
        });
        add("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"%s\"/>", colour, points);
    }

    private void losses(int top) {
        for (RecordedEvent event : events) {
            if (isKind(event, "Loss")) {
                double at = Duration.between(begin, event.getEndTime()).toMillis() / 1000.0;
                text(x(at), top + 12, "▼", "middle");
            }
        }
    }

    private static boolean isKind(RecordedEvent event, String kind) {
        return event.getEventType().getName().equals("dev.holdfast." + kind);
    }

    private long second(Instant at) {
        return Duration.between(begin, at).toSeconds();
    }

    private double x(double second) {
        return LEFT + second * (WIDTH - 20 - LEFT) / seconds;
    }

    private static double y(double millis, int top) {
        double decades = Math.log10(Math.max(millis, LEAST_MILLIS) / LEAST_MILLIS);
        return top + PANEL - decades * PANEL / DECADES;
    }

    private void text(double x, double y, String text, String anchor) {
        add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor, text);
    }

    private void add(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }
}
