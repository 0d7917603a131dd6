package dev.holdfast.bench.report;

import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Growth;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/** All figures of a run, round by round, for programs. */
public final class JsonFile {
    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 100};

    private JsonFile() {}

    /** Writes them. */
    public static void write(Path file, Results results) throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("settings", results.settings());
        all.put("leftOut", results.leftOut());
        all.put("figures", results.figures());
        all.put("growth", results.growth().stream().map(JsonFile::moment).toList());
        all.put("rows", results.cells().stream().map(JsonFile::row).toList());
        Files.writeString(file, text(all) + "\n");
    }

    private static Map<String, Object> moment(Growth growth) {
        Map<String, Object> moment = new LinkedHashMap<>();
        moment.put("store", growth.store().id());
        moment.put("afterMillis", growth.after().toMillis());
        moment.put("perSecond", growth.perSecond());
        moment.put("waitP99Nanos", growth.waitP99());
        moment.put("heapBytes", growth.heap());
        moment.put("kept", growth.kept());
        return moment;
    }

    private static Map<String, Object> row(Cell cell) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("store", cell.store().id());
        row.put("workload", cell.workload().id());
        row.put("peer", cell.peer().id());
        cell.failure().ifPresent(reason -> row.put("failure", reason));
        row.put("rounds", cell.samples().stream().map(JsonFile::round).toList());
        return row;
    }

    private static Map<String, Object> round(Sample sample) {
        Map<String, Object> round = new LinkedHashMap<>();
        round.put("perSecond", sample.perSecond());
        round.put("jain", sample.jain());
        round.put("waitNanos", percentiles(sample.waits()));
        round.put("callNanos", percentiles(sample.calls()));
        round.put("longestNanos", sample.waits().getMaxValue());
        if (sample.writers().getTotalCount() > 0) {
            round.put("writersWaitNanos", percentiles(sample.writers()));
        }
        if (sample.handOvers().getTotalCount() > 0) {
            round.put("handOverNanos", percentiles(sample.handOvers()));
        }
        round.put("lost", sample.lost());
        round.put("overlaps", sample.overlaps());
        round.put("refused", sample.refused());
        round.put("unserved", sample.unserved());
        round.put("compiling", sample.compiling());
        round.put("clientMicros", sample.clientMicros());
        round.put("serverMicros", sample.serverMicros());
        round.put("perTurn", sample.perTurn());
        return round;
    }

    private static Map<String, Object> percentiles(Histogram histogram) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (double percentile : PERCENTILES) {
            values.put("p" + Wanted.plain(percentile), histogram.getValueAtPercentile(percentile));
        }
        return values;
    }

    /** A value, a list or a map as JSON; what is no number and no boolean is a string. */
    public static String text(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> quoted(String.valueOf(entry.getKey())) + ":" + text(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(JsonFile::text).collect(Collectors.joining(",", "[", "]"));
        }
        if (value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof Number number) {
            return Double.isFinite(number.doubleValue()) ? String.valueOf(value) : "null";
        }
        return quoted(String.valueOf(value));
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }
}
