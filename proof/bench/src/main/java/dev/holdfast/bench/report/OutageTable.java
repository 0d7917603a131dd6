package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Outage;
import dev.holdfast.bench.run.Outages;
import dev.holdfast.bench.run.Results;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The table of the seconds for which a lock served nobody. */
final class OutageTable {
    static final String TITLE = "seconds without service, with the defaults of each";

    private OutageTable() {}

    static Optional<Table> of(Results results, StoreKind store) {
        List<String> headings = new ArrayList<>(List.of(""));
        for (Outage outage : Outage.values()) {
            headings.add(outage.title());
        }
        Table table = new Table(headings);
        boolean any = false;
        for (PeerKind peer : Peers.on(store)) {
            List<String> row = new ArrayList<>(List.of(peer.id()));
            boolean measured = false;
            for (Outage outage : Outage.values()) {
                Optional<Double> seconds = results.figure(outage.figure(store, peer));
                measured |= seconds.isPresent();
                row.add(seconds.map(OutageTable::text).orElse(Tables.NOTHING));
            }
            if (measured) {
                table.row(row);
            }
            any |= measured;
        }
        return any ? Optional.of(table) : Optional.empty();
    }

    private static String text(double seconds) {
        return seconds >= Outages.LIMIT.toSeconds()
                ? "more than " + Outages.LIMIT.toSeconds()
                : String.format(Locale.ROOT, "%.2f", seconds);
    }
}
