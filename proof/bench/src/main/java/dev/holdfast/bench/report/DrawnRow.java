package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Sample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What the pictures show of one row of a table. It is kept beside the pictures, so that they can be drawn again, and
 * together with those of other runs, without a new measurement.
 *
 * @param workload the id of the workload
 * @param contenders how many threads want the lock
 * @param perSecond turns per second
 * @param waits in milliseconds, for each of {@link #PERCENTILES}; NaN where there are too few turns for it
 * @param clientMicros processor time of the clients per turn, in microseconds
 * @param serverMicros processor time of the server per turn, in microseconds
 */
record DrawnRow(
        StoreKind store,
        String workload,
        PeerKind peer,
        int contenders,
        double perSecond,
        List<Double> waits,
        double clientMicros,
        double serverMicros) {
    static final List<Double> PERCENTILES = List.of(50.0, 90.0, 99.0, 99.9);

    private static final double NANOS_PER_MILLI = 1e6;
    private static final String SEPARATOR = "\t";
    private static final int FIELDS = 7 + PERCENTILES.size();

    DrawnRow {
        waits = List.copyOf(waits);
    }

    static DrawnRow of(Cell cell) {
        return new DrawnRow(
                cell.store(),
                cell.workload().id(),
                cell.peer(),
                cell.workload().load().contenders(),
                cell.median(Sample::perSecond),
                PERCENTILES.stream()
                        .map(percentile -> cell.waitAt(percentile) / NANOS_PER_MILLI)
                        .toList(),
                cell.median(Sample::clientMicros),
                cell.median(Sample::serverMicros));
    }

    /** The wait at one of {@link #PERCENTILES}. */
    double waitAt(double percentile) {
        return waits.get(PERCENTILES.indexOf(percentile));
    }

    /** The titles of the fields, as a line. */
    static String head() {
        List<String> titles = new ArrayList<>(List.of("store", "workload", "library", "threads", "turns/s"));
        PERCENTILES.forEach(percentile -> titles.add("wait " + Wanted.plain(percentile) + " % ms"));
        titles.addAll(List.of("client µs/turn", "server µs/turn"));
        return String.join(SEPARATOR, titles);
    }

    String toLine() {
        List<Object> fields = new ArrayList<>(List.of(store.id(), workload, peer.id(), contenders, rounded(perSecond)));
        waits.forEach(wait -> fields.add(rounded(wait)));
        fields.addAll(List.of(rounded(clientMicros), rounded(serverMicros)));
        return fields.stream().map(String::valueOf).collect(Collectors.joining(SEPARATOR));
    }

    static DrawnRow parse(String line) {
        String[] fields = line.split(SEPARATOR, -1);
        if (fields.length != FIELDS) {
            throw new IllegalArgumentException("expected " + FIELDS + " fields: " + line);
        }
        StoreKind store = Arrays.stream(StoreKind.values())
                .filter(kind -> kind.id().equals(fields[0]))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no store " + fields[0]));
        return new DrawnRow(
                store,
                fields[1],
                Peers.of(fields[2], store),
                Integer.parseInt(fields[3]),
                Double.parseDouble(fields[4]),
                Arrays.stream(fields, 5, 5 + PERCENTILES.size())
                        .map(Double::valueOf)
                        .toList(),
                Double.parseDouble(fields[FIELDS - 2]),
                Double.parseDouble(fields[FIELDS - 1]));
    }

    /** Four digits are enough for a picture. */
    private static double rounded(double value) {
        return Double.isNaN(value) ? value : Double.parseDouble(String.format(Locale.ROOT, "%.3e", value));
    }
}
