package dev.holdfast.bench.report;

import java.util.ArrayList;
import java.util.List;

/** Rows of text, printed with straight columns. The first column is for names, the others for figures. */
public final class Table {
    private final List<List<String>> rows = new ArrayList<>();

    /** A table with these headings. */
    public Table(List<String> headings) {
        rows.add(List.copyOf(headings));
    }

    /** Adds a row, as long as the headings. */
    public Table row(List<String> cells) {
        if (cells.size() != rows.get(0).size()) {
            throw new IllegalArgumentException(cells + " does not fit under " + rows.get(0));
        }
        rows.add(List.copyOf(cells));
        return this;
    }

    /** For a terminal. */
    public String toText() {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                String cell = row.get(i);
                String padding = " ".repeat(width(i) - length(cell));
                line.append(i == 0 ? "  " : "   ").append(i == 0 ? cell + padding : padding + cell);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    /** The headings, then the rows. */
    List<List<String>> rows() {
        return List.copyOf(rows);
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> length(row.get(column))).max().orElse(0);
    }

    private static int length(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
