package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.Load;
import dev.holdfast.bench.run.Quantiles;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The table of a workload in which all have as many turns, and the waits tell them apart. */
final class WaitTable {
    private WaitTable() {}

    static Table of(Results results, List<Cell> cells) {
        Load load = cells.get(0).workload().load();
        List<String> counters = Tables.counters(cells);
        List<String> headings = headings(load);
        headings.addAll(counters);
        Table table = new Table(headings);
        for (Cell cell : cells) {
            List<String> row = new ArrayList<>(List.of(cell.peer().id()));
            if (cell.isSound()) {
                row.addAll(figures(results, cell, load));
                counters.forEach(counter ->
                        row.add(cell.perTurn(counter).map(Ratio::brief).orElse(Tables.NOTHING)));
            } else {
                row.add("FAILED");
            }
            while (row.size() < headings.size()) {
                row.add(Tables.NOTHING);
            }
            table.row(row);
        }
        return table;
    }

    private static List<String> headings(Load load) {
        List<String> headings = new ArrayList<>(List.of("", "wait p50 ms", "p99", "p99.9", "longest"));
        if (load.isPaced()) {
            headings.add("from the call p50");
        }
        headings.addAll(List.of("p50 × best peer", "p50 × floor", "turns/s"));
        headings.add(load.isTry() ? "refused %" : "not served %");
        headings.addAll(List.of("lost", "client µs/turn", "server µs", "compiling %"));
        return headings;
    }

    private static List<String> figures(Results results, Cell cell, Load load) {
        List<String> row = new ArrayList<>();
        for (double percentile : new double[] {50, 99, 99.9}) {
            row.add(Tables.millis(cell.waitAt(percentile)));
        }
        row.add(Tables.millis((double) cell.longest()));
        if (load.isPaced()) {
            row.add(Tables.millis(Quantiles.of(cell.calls(), 50)));
        }
        String workload = cell.workload().id();
        Figure figure = cell.workload().figure();
        Optional<Cell> best = results.bestPeer(cell.store(), workload, figure);
        Optional<Cell> floor = results.cell(cell.store(), workload, Peers.FLOOR);
        row.add(Tables.ratio(cell, best, figure, cell.peer().role() == Role.HOLDFAST));
        row.add(Tables.ratio(cell, floor, figure, false));
        row.add(Tables.count(cell.median(Sample::perSecond)));
        row.add(percent(cell.median(load.isTry() ? Sample::refused : Sample::unserved)));
        row.add(Long.toString(cell.breaches()));
        row.add(Ratio.brief(cell.median(Sample::clientMicros)));
        row.add(Tables.isWithoutServer(cell) ? Tables.NOTHING : Ratio.brief(cell.median(Sample::serverMicros)));
        row.add(percent(cell.median(Sample::compiling)));
        return row;
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f", 100 * share);
    }
}
