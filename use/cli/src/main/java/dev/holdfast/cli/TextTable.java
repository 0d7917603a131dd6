package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;

/** Columns of text, aligned: words to the left, numbers to the right. */
final class TextTable {
    private static final String GAP = "  ";
    private final List<List<String>> rows = new ArrayList<>();
    private final String alignment;
    /** Of the columns; measured as the rows come, since a list may have a hundred thousand of them. */
    private final int[] widths;

    /** Begins a table; the alignment has one letter a column, {@code l} or {@code r}. */
    TextTable(String alignment, String... header) {
        this.alignment = alignment;
        this.widths = new int[header.length];
        row(header);
    }

    void row(String... cells) {
        for (int column = 0; column < cells.length; column++) {
            widths[column] = Math.max(widths[column], length(cells[column]));
        }
        rows.add(List.of(cells));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                String padding = " ".repeat(widths[column] - length(cell));
                line.append(column == 0 ? "" : GAP);
                line.append(alignment.charAt(column) == 'r' ? padding + cell : cell + padding);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private static int length(String cell) {
        return cell.codePointCount(0, cell.length());
    }
}
