package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.StoreKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All that a run came to; filled while it goes on, by one thread. */
public final class Results {
    private final List<Cell> cells = new ArrayList<>();
    private final Map<String, String> settings = new LinkedHashMap<>();
    private final List<String> failed = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();
    private final List<Growth> growth = new ArrayList<>();
    private final Map<String, Double> figures = new LinkedHashMap<>();

    /** Adds a row. */
    public void add(Cell cell) {
        cells.add(cell);
    }

    /** Notes a version or a setting. */
    public void setting(String name, String value) {
        settings.put(name, value);
    }

    /** Notes what is not there, and why. */
    public void leaveOut(String what) {
        if (!leftOut.contains(what)) {
            leftOut.add(what);
        }
    }

    /** Notes what failed and is no row. */
    public void fail(String what) {
        failed.add(what);
    }

    /** Notes a figure that no row has. */
    public void figure(String name, double value) {
        figures.put(name, value);
    }

    /** Notes a moment of a soak. */
    public void grow(Growth moment) {
        growth.add(moment);
    }

    /** The moments of all soaks, in the order they came. */
    public List<Growth> growth() {
        return List.copyOf(growth);
    }

    /** Versions and settings, in the order they came. */
    public Map<String, String> settings() {
        return settings;
    }

    /** What is not there, and why. */
    public List<String> leftOut() {
        return leftOut;
    }

    /** What failed and is no row. */
    public List<String> failed() {
        return failed;
    }

    /** Whether nothing failed, and every lock excluded. */
    public boolean isSound() {
        return failed.isEmpty() && failures().isEmpty() && breaches().isEmpty();
    }

    /** A figure that no row has. */
    public Optional<Double> figure(String name) {
        return Optional.ofNullable(figures.get(name));
    }

    /** All of these, in the order they came. */
    public Map<String, Double> figures() {
        return figures;
    }

    /** All rows. */
    public List<Cell> cells() {
        return List.copyOf(cells);
    }

    /** The rows of one table, in the order of the peers. */
    public List<Cell> cells(StoreKind store, String workload) {
        return cells.stream()
                .filter(cell -> cell.store() == store && cell.workload().id().equals(workload))
                .toList();
    }

    /** One sound row. */
    public Optional<Cell> cell(StoreKind store, String workload, String peer) {
        return cells(store, workload).stream()
                .filter(cell -> cell.peer().id().equals(peer) && cell.isSound())
                .findFirst();
    }

    /** The best of the other libraries in a table by some figure. */
    public Optional<Cell> bestPeer(StoreKind store, String workload, Figure figure) {
        return cells(store, workload).stream()
                .filter(cell -> cell.peer().role() == Role.PEER && cell.isSound())
                .min(figure::compare);
    }

    /** One peer beside another in a table, by some figure. */
    public Optional<Ratio> ratio(StoreKind store, String workload, String one, String other, Figure figure) {
        return cell(store, workload, one)
                .flatMap(ours -> cell(store, workload, other).flatMap(theirs -> Ratio.of(ours, theirs, figure)));
    }

    /** Whether Holdfast took part on a store. */
    public boolean hasHoldfast(StoreKind store) {
        return figure(Figures.on(store, Figures.KEEPING)).isPresent()
                || cells.stream()
                        .anyMatch(cell -> cell.store() == store && cell.peer().role() == Role.HOLDFAST);
    }

    /** Rounds that failed. */
    public List<Cell> failures() {
        return cells.stream().filter(cell -> cell.failure().isPresent()).toList();
    }

    /** Rows whose peer let two holders in. */
    public List<Cell> breaches() {
        return cells.stream().filter(cell -> cell.breaches() > 0).toList();
    }
}
