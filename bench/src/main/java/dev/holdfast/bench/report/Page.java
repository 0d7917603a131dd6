package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The page of measured figures: what a run puts between two marks of a page, whose other words are people's. A page
 * without the marks gets them at its end.
 */
public final class Page {
    static final String BEGIN = "<!-- measured: begin, written by ./holdfast bench -->";
    static final String END = "<!-- measured: end -->";

    private Page() {}

    /** Writes the results of these stores into the page, and its pictures into the folder {@code images} beside it. */
    public static void write(Path page, Results results, List<StoreKind> stores, String command) throws IOException {
        String old = Files.exists(page) ? Files.readString(page) : "# Benchmarks\n";
        Files.writeString(page, replace(old, measured(page, results, stores, command)));
        new Charts(page.resolveSibling("images")).drawAllServers();
    }

    /** The page with other words between the marks. */
    static String replace(String page, String measured) {
        int begin = page.indexOf(BEGIN);
        int end = page.indexOf(END);
        String before = begin < 0 ? page.stripTrailing() + "\n\n" : page.substring(0, begin);
        String after = end < 0 ? "\n" : page.substring(end + END.length());
        return before + BEGIN + "\n\n" + measured.strip() + "\n\n" + END + after;
    }

    private static String measured(Path page, Results results, List<StoreKind> stores, String command)
            throws IOException {
        StringBuilder text = new StringBuilder();
        text.append("Measured by `").append(command).append("`.\n\n");
        results.settings().forEach((name, value) -> {
            if (!isOfAnotherStore(name, stores)) {
                text.append("- ").append(name).append(": ").append(value).append('\n');
            }
        });
        results.leftOut().forEach(what -> {
            if (!isOfAnotherStore(what, stores)) {
                text.append("- Left out: ").append(what).append('\n');
            }
        });
        text.append("\n## Targets\n\n").append(Targets.table(results, stores).toMarkdown());
        Charts charts = new Charts(page.resolveSibling("images"));
        for (StoreKind store : stores) {
            List<Workload> workloads = results.cells().stream()
                    .filter(cell -> cell.store() == store)
                    .map(Cell::workload)
                    .distinct()
                    .toList();
            if (!workloads.isEmpty()) {
                text.append("\n## ").append(capital(store.title())).append("\n");
                charts.keep(results, store);
                pictures(text, store, charts.draw(store));
            }
            Map<String, Table> beyond = Beyond.tables(results, store);
            if (workloads.isEmpty() && !beyond.isEmpty()) {
                text.append("\n## ").append(capital(store.title())).append("\n");
            }
            for (Workload workload : workloads) {
                text.append("\n### ")
                        .append(capital(store.title()))
                        .append(": ")
                        .append(workload.title())
                        .append("\n\n")
                        .append(Tables.of(results, store, workload.id()).toMarkdown());
            }
            beyond.forEach((title, table) ->
                    text.append("\n### %s: %s%n%n%s".formatted(capital(store.title()), title, table.toMarkdown())));
        }
        return text.toString();
    }

    /** Settings and what was left out begin with the title of their store, if they have one. */
    private static boolean isOfAnotherStore(String words, List<StoreKind> stores) {
        return Arrays.stream(StoreKind.values())
                .anyMatch(store -> !stores.contains(store) && words.startsWith(store.title()));
    }

    private static void pictures(StringBuilder text, StoreKind store, Map<String, String> drawn) {
        drawn.forEach((title, file) ->
                text.append("\n![%s: %s](images/%s.svg)\n".formatted(capital(store.title()), title, file)));
    }

    private static String capital(String title) {
        return Character.toUpperCase(title.charAt(0)) + title.substring(1);
    }
}
