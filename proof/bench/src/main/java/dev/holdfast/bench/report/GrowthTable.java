package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Growth;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;

/** The table of a soak: moment by moment, what the store and the processes keep. */
final class GrowthTable {
    static final String TITLE = "soak, 100,000 names, few of them often, 2 processes × 16 threads";

    private static final double MEGABYTE = 1e6;

    private GrowthTable() {}

    static Optional<Table> of(Results results, StoreKind store) {
        List<Growth> moments = results.growth().stream()
                .filter(moment -> moment.store() == store)
                .toList();
        if (moments.isEmpty()) {
            return Optional.empty();
        }
        TreeSet<String> kept = new TreeSet<>();
        moments.forEach(moment -> kept.addAll(moment.kept().keySet()));
        List<String> headings = new ArrayList<>(List.of("after s", "turns/s", "wait p99 ms", "heap MB"));
        kept.forEach(what -> headings.add("store: " + what));
        Table table = new Table(headings);
        for (Growth moment : moments) {
            List<String> row = new ArrayList<>(List.of(
                    Ratio.brief(moment.after().toMillis() / 1e3),
                    Tables.count(moment.perSecond()),
                    Tables.millis(moment.waitP99()),
                    String.format(Locale.ROOT, "%.2f", moment.heap() / MEGABYTE)));
            kept.forEach(what -> row.add(Tables.count(moment.kept().getOrDefault(what, 0.0))));
            table.row(row);
        }
        return Optional.of(table);
    }
}
