package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.MeasuredFile.Line;
import dev.holdfast.bench.run.Results;
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
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page of measured figures: tables and pictures of all stores, and a list of contents. It is made from the files of
 * the stores alone, so it can be written again without a measurement.
 */
public final class MeasuredPage {
    private static final String NAME = "index.html";

    private final Path folder;
    private final Charts charts;
    private final StringBuilder contents = new StringBuilder();
    private final StringBuilder stores = new StringBuilder();

    private MeasuredPage(Path folder) {
        this.folder = folder;
        this.charts = new Charts(images(folder));
    }

    /** Writes the results of these stores into a folder, its page, and the pictures into {@code images} beside it. */
    public static void write(Path folder, Results results, List<StoreKind> stores, String command) throws IOException {
        Charts charts = new Charts(images(folder));
        for (StoreKind store : stores) {
            MeasuredFile.write(folder, results, store, command);
            if (results.cells().stream().anyMatch(cell -> cell.store() == store)) {
                charts.keep(results, store);
                charts.draw(store);
            }
        }
        charts.drawAllServers();
        write(folder);
    }

    /** What is measured by a command of its own, and has a file of its own for each store. */
    public enum Trial {
        /** What a lock makes its server write. */
        WRITES("What a lock writes"),
        /** What grows in a week or a year. */
        LONG("Long runs");

        final String title;

        Trial(String title) {
            this.title = title;
        }

        String id() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Writes the results of a trial on a store into a folder; the page is written when all stores are done. */
    public static void write(Path folder, StoreKind store, Trial trial, String settings, Map<String, Table> tables)
            throws IOException {
        MeasuredFile.write(folder, store, trial, settings, tables);
    }

    /** Writes the page from the files that are in the folder. */
    public static void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.writeString(folder.resolve(NAME), html(folder));
    }

    static String html(Path folder) throws IOException {
        MeasuredPage page = new MeasuredPage(folder);
        for (StoreKind store : StoreKind.values()) {
            page.add(store, MeasuredFile.read(folder, store));
        }
        try (InputStream frame = Objects.requireNonNull(MeasuredPage.class.getResourceAsStream("measured.html"))) {
            return new String(frame.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("${results}", page.linked("../benchmarks.md", "benchmarks"))
                    .replace("${method}", page.linked("../benchmarks-method.md", "how the bench measures"))
                    .replace("${contents}", page.contents)
                    .replace("${stores}", page.stores);
        }
    }

    private static Path images(Path folder) {
        return folder.resolveSibling("images");
    }

    /** A page that has no such neighbour has the words alone. */
    private String linked(String page, String words) {
        return Files.exists(folder.resolve(page)) ? link(page, words) : words;
    }

    private static String link(String target, String words) {
        return "<a href=\"%s\">%s</a>".formatted(target, escaped(words));
    }

    private void add(StoreKind store, List<Line> lines) {
        if (lines.isEmpty()) {
            return;
        }
        String title = store.title().substring(0, 1).toUpperCase(Locale.ROOT)
                + store.title().substring(1);
        Map<String, List<Line>> tables =
                lines.stream().collect(Collectors.groupingBy(Line::table, LinkedHashMap::new, Collectors.toList()));
        contents.append("<details>\n<summary>%s</summary>\n<ul>\n".formatted(link("#" + store.id(), title)));
        stores.append("<section id=\"%s\">\n<h2>%s</h2>\n".formatted(store.id(), escaped(title)));
        tables.forEach((table, its) -> {
            if (table.equals(MeasuredFile.RUN)) {
                stores.append(sentences(its)).append(pictures(store, title));
                return;
            }
            String id = store.id() + "-" + idOf(table);
            contents.append("<li>%s</li>\n".formatted(link("#" + id, table)));
            stores.append("<h3 id=\"%s\">%s</h3>\n".formatted(id, escaped(title + ": " + table)))
                    .append(sentences(its))
                    .append(table(its));
        });
        contents.append("</ul>\n</details>\n");
        stores.append("</section>\n");
    }

    private String pictures(StoreKind store, String title) {
        return charts.drawn(store).entrySet().stream()
                .map(picture -> "<img src=\"../images/%s.svg\" alt=\"%s: %s\" loading=\"lazy\">\n"
                        .formatted(picture.getValue(), escaped(title), picture.getKey()))
                .collect(Collectors.joining());
    }

    private static String sentences(List<Line> lines) {
        List<String> said = lines.stream()
                .filter(Line::isSentence)
                .map(line -> "<li><b>%s</b>: %s</li>\n".formatted(escaped(line.row()), escaped(line.value())))
                .toList();
        return said.isEmpty() ? "" : "<ul>\n" + String.join("", said) + "</ul>\n";
    }

    private static String table(List<Line> lines) {
        Set<String> columns = new LinkedHashSet<>();
        Map<String, StringBuilder> rows = new LinkedHashMap<>();
        for (Line line : lines) {
            if (!line.isSentence()) {
                columns.add(line.column());
                rows.computeIfAbsent(
                                line.row(), row -> new StringBuilder("<th scope=\"row\">" + escaped(row) + "</th>"))
                        .append(line.value().equals("MISSED") ? "<td class=\"missed\">" : "<td>")
                        .append(escaped(line.value()))
                        .append("</td>");
            }
        }
        if (rows.isEmpty()) {
            return "";
        }
        String head = columns.stream()
                .map(column -> "<th scope=\"col\">" + escaped(column) + "</th>")
                .collect(Collectors.joining("", "<tr><td></td>", "</tr>\n"));
        Stream<String> body = rows.entrySet().stream()
                .map(row -> "<tr%s>%s</tr>\n"
                        .formatted(row.getKey().startsWith("holdfast") ? " class=\"ours\"" : "", row.getValue()));
        return body.collect(Collectors.joining("", "<div><table>\n" + head, "</table></div>\n"));
    }

    private static String idOf(String title) {
        return title.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}]+", "-")
                .replaceAll("^-|-$", "");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
