package dev.holdfast.challenge.report;

import dev.holdfast.challenge.check.Check.Violation;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One page without JavaScript: the table, and a picture of each violation. */
public final class HtmlReport {
    private static final int PICTURES = 3;

    private HtmlReport() {}

    /** Writes it; of a run that is worth nothing, it has no table. */
    public static void write(Path file, Results results) throws IOException {
        StringBuilder page = new StringBuilder("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">")
                .append("<meta name=\"viewport\" content=\"width=device-width\"><title>Holdfast: the challenge</title>")
                .append("<style>")
                .append(style())
                .append("</style><h1>The challenge</h1>");
        results.settings()
                .forEach((store, text) ->
                        page.append("<p>").append(escaped(text)).append("</p>"));
        if (!results.isComplete()) {
            page.append("<p>Not complete: what was seen so far.</p>");
        }
        List<String> invalid = results.invalid();
        if (invalid.isEmpty()) {
            table(page, results.rows());
            page.append("<h2>What was found</h2>").append(legend());
            results.rows().forEach(row -> pictures(page, row));
        } else {
            page.append("<p class=\"broken\">INVALID: nothing can be concluded from this run.</p>");
            invalid.forEach(why -> page.append("<p>").append(escaped(why)).append("</p>"));
        }
        results.notTested()
                .forEach(line -> page.append("<p>").append(escaped(line)).append("</p>"));
        page.append(
                        "<h2>The controls</h2><p>Locks that are wrong on purpose, or by their textbook: the run counts only")
                .append(" if their checks find each of them.</p>");
        results.controls().forEach(row -> pictures(page, row));
        Files.writeString(file, page.append("</html>\n"));
    }

    private static String style() throws IOException {
        try (InputStream style = HtmlReport.class.getResourceAsStream("report.css")) {
            if (style == null) {
                throw new IllegalStateException("report.css is missing beside " + HtmlReport.class);
            }
            return new String(style.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** A line for each lock and workload, a column for each fault. */
    private static void table(StringBuilder page, List<Row> rows) {
        Set<String> faults =
                rows.stream().map(row -> row.cell().fault()).collect(Collectors.toCollection(LinkedHashSet::new));
        Map<Cell, Map<String, Row>> lines = new LinkedHashMap<>();
        for (Row row : rows) {
            Cell cell = row.cell();
            lines.computeIfAbsent(
                            new Cell(cell.store(), cell.lock(), cell.workload(), ""), unused -> new LinkedHashMap<>())
                    .put(cell.fault(), row);
        }
        page.append("<div class=\"wide\"><table><tr><th>store</th><th>lock</th><th>workload</th>");
        faults.forEach(fault -> page.append("<th>").append(fault).append("</th>"));
        page.append("</tr>");
        lines.forEach((cell, row) -> {
            page.append("<tr><td>").append(cell.store()).append("</td><td>");
            page.append(escaped(row.values().iterator().next().lock().title())).append("</td><td>");
            page.append(cell.workload()).append("</td>");
            faults.forEach(fault -> page.append(entry(row.get(fault))));
            page.append("</tr>");
        });
        page.append("</table></div>");
    }

    private static String entry(@Nullable Row row) {
        if (row == null) {
            return "<td>–</td>";
        }
        return "<td class=\"" + row.verdict().name().toLowerCase(Locale.ROOT) + "\" title=\""
                + escaped(row.sentence()) + "\">" + row.verdict().title() + "<small>" + row.events()
                + " events, " + row.bitten() + " bites</small></td>";
    }

    private static String legend() {
        return "<p class=\"legend\"><i class=\"asked\"></i> asked <i class=\"held\"></i> held, and said so"
                + " <i class=\"naive\"></i> not released yet <i class=\"fault\"></i> fault <i class=\"overlap\"></i>"
                + " held together</p>";
    }

    private static void pictures(StringBuilder page, Row row) {
        if (row.history().isEmpty() || row.shown().isEmpty()) {
            return;
        }
        LaneHistory history = row.history().get();
        page.append("<h3>")
                .append(row.cell())
                .append("</h3><p>")
                .append(escaped(row.lock().title()));
        page.append(": ")
                .append(escaped(row.counts()))
                .append(", seed ")
                .append(history.seed())
                .append("</p>");
        Set<String> checks = new TreeSet<>();
        for (Violation violation : row.shown()) {
            if (checks.size() < PICTURES && checks.add(violation.check())) {
                page.append("<figure>").append(Timeline.of(history, violation)).append("<figcaption>");
                page.append(violation.check())
                        .append(violation.turns().isEmpty() ? ": " + escaped(violation.text()) : "");
                page.append("</figcaption></figure>");
            }
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
