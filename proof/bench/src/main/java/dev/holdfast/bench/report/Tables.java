package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.Load;
import dev.holdfast.bench.run.Load.Locks;
import dev.holdfast.bench.run.Quantiles;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import org.HdrHistogram.Histogram;

/** The table of one workload on one store. */
final class Tables {
    private static final double NANOS_PER_MILLI = 1e6;
    static final String NOTHING = "–";

    private Tables() {}

    static Table of(Results results, StoreKind store, String workload) {
        List<Cell> cells = results.cells(store, workload);
        if (cells.get(0).workload().figure() != Figure.TURNS) {
            return WaitTable.of(results, cells);
        }
        Load load = cells.get(0).workload().load();
        List<String> counters = counters(cells);
        Table table = new Table(headings(load, counters));
        for (Cell cell : cells) {
            table.row(row(results, cell, load, counters));
        }
        return table;
    }

    private static List<String> headings(Load load, List<String> counters) {
        List<String> headings = new ArrayList<>(
                List.of("", "turns/s", "× best peer", "× floor", "× ceiling", "wait p50 ms", "p99", "longest"));
        if (load.locks() == Locks.ONE_MOSTLY_READ) {
            headings.add("writer's p99");
        }
        if (load.isContended()) {
            headings.addAll(List.of("Jain", "hand-over p50 ms", "lost"));
        }
        headings.addAll(List.of("client µs/turn", "server µs"));
        headings.addAll(counters);
        return headings;
    }

    private static List<String> row(Results results, Cell cell, Load load, List<String> counters) {
        List<String> row = new ArrayList<>();
        row.add(cell.peer().id());
        if (!cell.isSound()) {
            row.add("FAILED");
            while (row.size() < headings(load, counters).size()) {
                row.add(NOTHING);
            }
            return row;
        }
        row.add(count(cell.median(Sample::perSecond)));
        row.addAll(ratios(results, cell));
        row.add(millis(cell.waitAt(50)));
        row.add(millis(cell.waitAt(99)));
        row.add(millis((double) cell.longest()));
        if (load.locks() == Locks.ONE_MOSTLY_READ) {
            row.add(millis(Quantiles.of(cell.writers(), 99)));
        }
        if (load.isContended()) {
            row.add(String.format(Locale.ROOT, "%.3f", cell.median(Sample::jain)));
            Histogram handOvers = cell.handOvers();
            row.add(handOvers.getTotalCount() == 0 ? NOTHING : millis((double) handOvers.getValueAtPercentile(50)));
            row.add(Long.toString(cell.breaches()));
        }
        row.add(Ratio.brief(cell.median(Sample::clientMicros)));
        row.add(isWithoutServer(cell) ? NOTHING : Ratio.brief(cell.median(Sample::serverMicros)));
        for (String counter : counters) {
            row.add(
                    cell.peer().role() == Role.CEILING
                            ? NOTHING
                            : cell.perTurn(counter).map(Ratio::brief).orElse(NOTHING));
        }
        return row;
    }

    private static List<String> ratios(Results results, Cell cell) {
        String workload = cell.workload().id();
        Optional<Cell> best = results.bestPeer(cell.store(), workload, Figure.TURNS);
        Optional<Cell> floor = results.cell(cell.store(), workload, Peers.FLOOR);
        Optional<Cell> ceiling = results.cell(cell.store(), workload, Peers.CEILING);
        boolean spread = cell.peer().role() == Role.HOLDFAST;
        return List.of(
                ratio(cell, best, Figure.TURNS, spread),
                ratio(cell, floor, Figure.TURNS, false),
                ratio(cell, ceiling, Figure.TURNS, false));
    }

    static String ratio(Cell cell, Optional<Cell> other, Figure figure, boolean spread) {
        return other.filter(beside -> beside != cell)
                .flatMap(beside -> Ratio.of(cell, beside, figure))
                .map(ratio -> spread ? ratio.toString() : Ratio.brief(ratio.median()))
                .orElse(NOTHING);
    }

    static List<String> counters(List<Cell> cells) {
        TreeSet<String> names = new TreeSet<>();
        cells.forEach(cell ->
                cell.samples().forEach(sample -> names.addAll(sample.perTurn().keySet())));
        return List.copyOf(names);
    }

    static boolean isWithoutServer(Cell cell) {
        return cell.peer().role() == Role.CEILING
                || cell.store() == StoreKind.MEMORY
                || cell.store() == StoreKind.SQLITE;
    }

    static String count(double number) {
        return String.format(Locale.ROOT, "%,.0f", number);
    }

    /** {@link Double#NaN} is a quantile that has too few samples. */
    static String millis(double nanos) {
        if (Double.isNaN(nanos)) {
            return NOTHING;
        }
        double millis = nanos / NANOS_PER_MILLI;
        return millis >= 10 ? String.format(Locale.ROOT, "%.1f", millis) : Ratio.brief(millis);
    }
}
