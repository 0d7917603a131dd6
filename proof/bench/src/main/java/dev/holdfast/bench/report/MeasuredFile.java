package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.MeasuredPage.Trial;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The file of a store with all that a run measured: a line for each figure, with the title of its table, its row and its
 * column. A line without a column is a sentence about its table, or about the whole run.
 */
final class MeasuredFile {
    static final String RUN = "Run";
    static final String TARGETS = "Targets";

    private static final Line HEAD = new Line("table", "row", "column", "value");

    private MeasuredFile() {}

    static Path in(Path folder, StoreKind store) {
        return folder.resolve(store.id() + ".tsv");
    }

    /** Writes the results of a store, in place of those of an earlier run. */
    static void write(Path folder, Results results, StoreKind store, String command) throws IOException {
        List<Line> lines = new ArrayList<>(List.of(HEAD, new Line(RUN, "Command", "", command)));
        results.settings().forEach((name, value) -> {
            if (!isOfAnotherStore(name, store)) {
                lines.add(new Line(RUN, name, "", value));
            }
        });
        for (String what : results.leftOut()) {
            if (!isOfAnotherStore(what, store)) {
                lines.add(new Line(RUN, "Left out", "", what));
            }
        }
        add(lines, TARGETS, Targets.table(results, List.of(store)));
        results.cells().stream()
                .filter(cell -> cell.store() == store)
                .map(Cell::workload)
                .distinct()
                .forEach(workload -> add(lines, workload.title(), Tables.of(results, store, workload.id())));
        Beyond.tables(results, store).forEach((title, table) -> add(lines, title, table));
        Files.createDirectories(folder);
        Files.write(in(folder, store), lines.stream().map(Line::toString).toList());
    }

    /** Writes the results of a trial, in place of those of an earlier run. */
    static void write(Path folder, StoreKind store, Trial trial, String settings, Map<String, Table> tables)
            throws IOException {
        List<Line> lines =
                new ArrayList<>(List.of(HEAD, new Line(trial.title, "Command", "", "./holdfast bench " + trial.id())));
        lines.add(new Line(trial.title, "Settings", "", settings));
        tables.forEach((title, table) -> add(lines, trial.title + ": " + title, table));
        Files.write(in(folder, store, trial), lines.stream().map(Line::toString).toList());
    }

    private static Path in(Path folder, StoreKind store, Trial trial) {
        return folder.resolve(store.id() + "-" + trial.id() + ".tsv");
    }

    private static void add(List<Line> lines, String title, Table table) {
        List<String> headings = table.rows().get(0);
        for (List<String> row : table.rows().subList(1, table.rows().size())) {
            for (int column = 1; column < row.size(); column++) {
                lines.add(new Line(title, row.get(0), headings.get(column), row.get(column)));
            }
        }
    }

    /**
     * The lines of a store; none if there is no file.
     *
     * @throws IOException also for a file that this version did not write
     */
    static List<Line> read(Path folder, StoreKind store) throws IOException {
        List<Line> lines = new ArrayList<>(TsvFile.read(in(folder, store), store, HEAD.toString(), Line::parse));
        for (Trial trial : Trial.values()) {
            lines.addAll(TsvFile.read(in(folder, store, trial), store, HEAD.toString(), Line::parse));
        }
        return lines;
    }

    /** Settings and what was left out begin with the title of their store, if they have one. */
    private static boolean isOfAnotherStore(String words, StoreKind store) {
        return Arrays.stream(StoreKind.values()).anyMatch(other -> other != store && words.startsWith(other.title()));
    }

    /** One figure, or one sentence. */
    record Line(String table, String row, String column, String value) {
        private static final int FIELDS = 4;

        static Line parse(String line) {
            String[] fields = line.split("\t", -1);
            if (fields.length != FIELDS) {
                throw new IllegalArgumentException("expected " + FIELDS + " fields: " + line);
            }
            return new Line(fields[0], fields[1], fields[2], fields[3]);
        }

        boolean isSentence() {
            return column.isEmpty();
        }

        @Override
        public String toString() {
            return String.join("\t", table, row, column, value.replaceAll("\\s+", " "));
        }
    }
}
