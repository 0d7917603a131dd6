package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import java.util.Optional;

/** What a figure is compared with: one named row, or the best of the other libraries by that figure. */
record Beside(Optional<String> peer) {
    /** The best of the other libraries. */
    static final Beside BEST = new Beside(Optional.empty());

    /** One row. */
    static Beside of(String peer) {
        return new Beside(Optional.of(peer));
    }

    /** What was found: the ratio, and the name of the best where that was to be found out. */
    record Found(Ratio ratio, String suffix) {
        String text() {
            return ratio + " ×" + suffix;
        }
    }

    String title() {
        return peer.orElse("the best peer");
    }

    Optional<Found> ratio(Results results, StoreKind store, String workload, String ours, Figure figure) {
        Optional<String> theirs = peer.isPresent()
                ? peer
                : results.bestPeer(store, workload, figure).map(Beside::id);
        String suffix = peer.isPresent() ? "" : theirs.map(name -> " " + name).orElse("");
        return theirs.flatMap(name -> results.ratio(store, workload, ours, name, figure))
                .map(ratio -> new Found(ratio, suffix));
    }

    private static String id(Cell cell) {
        return cell.peer().id();
    }
}
