package dev.holdfast.challenge.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A line for each lock, as a table in Markdown. */
public final class Summary {
    private Summary() {}

    /** Writes it; nothing of a run that is worth nothing, nor what an earlier one left. */
    public static void write(Path file, Results results) throws IOException {
        if (results.invalid().isEmpty()) {
            Files.writeString(file, table(results));
        } else {
            Files.deleteIfExists(file);
        }
    }

    private static String table(Results results) {
        Map<String, List<Row>> lines = new LinkedHashMap<>();
        for (Row row : results.rows()) {
            String store = row.cell().store();
            String title = title(store, results.settings().getOrDefault(store, store));
            lines.computeIfAbsent(title + " | " + row.lock().title(), unused -> new ArrayList<>())
                    .add(row);
        }
        StringBuilder table = new StringBuilder(results.isComplete() ? "" : "Not complete: what was seen so far.\n\n")
                .append("| store | lock | held under | seen, and not promised | broken |\n")
                .append("|---|---|---|---|---|\n");
        lines.forEach((title, rows) -> table.append("| " + title + " | " + held(rows) + " | "
                + seen(rows, Verdict.NOT_PROMISED) + " | " + seen(rows, Verdict.BROKEN) + " |\n"));
        return table.toString();
    }

    /** As "Redis 7.0.15 with Sentinel". */
    static String title(String store, String settings) {
        return settings.replaceFirst(",.*", "") + (store.equals("sentinel") ? " with Sentinel" : "");
    }

    /** Faults under which nothing was found in any use of the lock. */
    private static String held(List<Row> rows) {
        Map<String, List<Row>> byFault = byFault(rows);
        byFault.values().removeIf(of -> of.stream().anyMatch(row -> row.verdict() != Verdict.HELD));
        List<Row> held = byFault.values().stream().flatMap(List::stream).toList();
        return held.isEmpty()
                ? "–"
                : String.format(
                        Locale.ROOT,
                        "%d of %d faults: %,d events, %,d bites",
                        byFault.size(),
                        byFault(rows).size(),
                        held.stream()
                                .flatMap(row -> row.eventsBitten().stream())
                                .distinct()
                                .count(),
                        held.stream().mapToLong(Row::bitten).sum());
    }

    private static String seen(List<Row> rows, Verdict verdict) {
        Map<String, List<Row>> byFault = byFault(rows);
        byFault.values().forEach(of -> of.removeIf(row -> row.verdict() != verdict));
        byFault.values().removeIf(List::isEmpty);
        String text = byFault.entrySet().stream()
                .map(entry -> entry.getKey() + ": " + checks(entry.getValue()) + " ("
                        + entry.getValue().stream().mapToLong(Row::seen).sum() + " of "
                        + entry.getValue().stream().mapToLong(Row::bitten).sum() + ")")
                .collect(Collectors.joining("; "));
        return text.isEmpty() ? "–" : text;
    }

    private static String checks(List<Row> rows) {
        return String.join(
                ", ",
                rows.stream()
                        .flatMap(row -> row.decisive().keySet().stream())
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    private static Map<String, List<Row>> byFault(List<Row> rows) {
        return rows.stream()
                .filter(row -> row.verdict() != Verdict.NOT_TESTED)
                .collect(Collectors.groupingBy(
                        row -> row.cell().fault(), LinkedHashMap::new, Collectors.toCollection(ArrayList::new)));
    }
}
