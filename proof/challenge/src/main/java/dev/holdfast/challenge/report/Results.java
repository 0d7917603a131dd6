package dev.holdfast.challenge.report;

import dev.holdfast.challenge.history.HistoryFile;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.lock.LockKind.Role;
import dev.holdfast.challenge.lock.Locks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** All that was seen so far. Thread-safe. */
public final class Results {
    private final Map<Cell, Row> rows = new LinkedHashMap<>();
    private final Map<String, String> settings = new LinkedHashMap<>();
    private final List<String> notTested = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private volatile boolean interrupted;
    private volatile boolean complete;

    /** Adds what became of one lock under one fault. */
    public synchronized void add(LaneHistory history) {
        Cell cell = history.cell();
        rows.computeIfAbsent(cell, unused -> new Row(cell, Locks.of(cell.lock(), cell.store())))
                .add(history);
    }

    /** A line on a heat that is over. */
    public synchronized String progress(String fault, List<LaneHistory> histories) {
        Map<String, Long> bites = new LinkedHashMap<>();
        List<String> found = new ArrayList<>();
        for (Cell cell : histories.stream().map(LaneHistory::cell).distinct().toList()) {
            Row row = Objects.requireNonNull(rows.get(cell));
            if (!row.lock().isControl()) {
                bites.merge(cell.lock(), row.bitten(), Long::sum);
                if (row.verdict() != Verdict.HELD) {
                    found.add(cell.lock() + "/" + cell.workload() + " " + row.sentence());
                }
            }
        }
        return LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS) + " "
                + histories.get(0).cell().store() + " " + fault + ": bites " + bites
                + found.stream().map(each -> "\n    " + each).collect(Collectors.joining());
    }

    /** Describes a store. */
    public synchronized void setting(String store, String text) {
        settings.put(store, text);
    }

    /** Something that could not be tried. */
    public synchronized void notTested(String what, String why) {
        String line = what + ": NOT TESTED (" + why + ")";
        if (!notTested.contains(line)) {
            notTested.add(line);
        }
    }

    /** The run is over: what breaks down from now on says nothing. */
    public void interrupt() {
        interrupted = true;
    }

    /** All that was to be attacked was. */
    public void complete() {
        complete = true;
    }

    /** Whether all that was to be attacked was. */
    public boolean isComplete() {
        return complete;
    }

    /** Whether the run is over before its time. */
    public boolean isInterrupted() {
        return interrupted;
    }

    /** Something that broke down in the challenge itself. */
    public synchronized void failed(String what) {
        failures.add(what);
    }

    /** The rows of all locks that are no controls, in the order in which they came. */
    public synchronized List<Row> rows() {
        return rows.values().stream().filter(row -> !row.lock().isControl()).toList();
    }

    /** The rows of the controls. */
    public synchronized List<Row> controls() {
        return rows.values().stream().filter(row -> row.lock().isControl()).toList();
    }

    /** How each store was set. */
    public synchronized Map<String, String> settings() {
        return new LinkedHashMap<>(settings);
    }

    /** What could not be tried, and why. */
    public synchronized List<String> notTested() {
        return List.copyOf(notTested);
    }

    /** Why the run is worth nothing; empty when it is worth something. */
    public synchronized List<String> invalid() {
        List<String> why = new ArrayList<>(failures);
        for (Row row : controls()) {
            if (row.lock().role() == Role.WRONG && !row.uncaught().isEmpty()) {
                why.add("the control " + row.cell() + " was not caught by " + row.uncaught() + ", only by "
                        + row.violations().keySet());
            } else if (row.lock().role() == Role.RIGHT && !row.violations().isEmpty()) {
                why.add("a false alarm in the control " + row.cell() + ": "
                        + row.shown().get(0).check() + ": " + row.shown().get(0).text());
            }
        }
        if (complete) {
            why.addAll(missing());
        }
        return why;
    }

    /** What a whole run must have. */
    private List<String> missing() {
        List<String> why = new ArrayList<>();
        if (rows().stream().allMatch(row -> row.verdict() == Verdict.NOT_TESTED)) {
            why.add("nothing was attacked");
        }
        rows().stream()
                .map(row -> row.cell().store())
                .distinct()
                .filter(store -> controls().stream()
                        .noneMatch(row ->
                                row.cell().store().equals(store) && row.lock().role() == Role.WRONG))
                .forEach(store -> why.add("no wrong lock was run on " + store));
        return why;
    }

    /** Whether nothing that is promised was broken. */
    public boolean held() {
        return rows().stream().noneMatch(row -> row.verdict() == Verdict.BROKEN);
    }

    /** Keeps the histories in which something was found that should not be, or nothing that should. */
    public synchronized void keepHistories(Path folder) throws IOException {
        for (Row row : rows.values()) {
            boolean unexpected = switch (row.lock().role()) {
                case WRONG -> !row.uncaught().isEmpty();
                case RIGHT -> !row.violations().isEmpty();
                case HOLDFAST, PEER -> row.verdict() == Verdict.BROKEN;
            };
            if (row.history().isPresent() && unexpected) {
                Files.createDirectories(folder);
                Path file = folder.resolve(row.cell().toString().replace('/', '-') + "-"
                        + row.history().get().seed() + ".history");
                HistoryFile.write(file, row.history().get());
                row.keptIn(file.toString());
            }
        }
    }
}
