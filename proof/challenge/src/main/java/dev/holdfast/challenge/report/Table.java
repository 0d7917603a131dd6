package dev.holdfast.challenge.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.holdfast.challenge.fault.Fault;
import dev.holdfast.challenge.fault.Faults;
import dev.holdfast.challenge.lock.LockKind.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Several runs, each of other stores, in one table of Markdown: a line for each store and group of faults, this library's
 * locks beside those of others. It is made of the runs' results.json alone.
 */
public final class Table {
    private static final String RESULTS = "results.json";

    private final Map<String, String> stores = new LinkedHashMap<>();
    private final List<Entry> entries = new ArrayList<>();
    private final Set<String> notTested = new LinkedHashSet<>();

    /** What one run says of one lock, doing one thing, under one fault. */
    private record Entry(
            String store,
            String fault,
            Role role,
            String lock,
            Verdict verdict,
            long events,
            long bites,
            long seen,
            Set<String> checks) {
        static Entry of(JsonNode cell) {
            String[] words = cell.required("cell").asText().split("/", -1);
            JsonNode broken = cell.required("broken");
            return new Entry(
                    words[0],
                    words[3],
                    Role.valueOf(cell.required("role").asText()),
                    cell.required("lock").asText(),
                    Verdict.valueOf(cell.required("verdict").asText()),
                    cell.required("events").asLong(),
                    cell.required("bites").asLong(),
                    cell.required("seen").asLong(),
                    names(broken.isEmpty() ? cell.required("violations") : broken));
        }

        private static Set<String> names(JsonNode counts) {
            return counts.properties().stream().map(Map.Entry::getKey).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private Table() {}

    /**
     * The table of these runs.
     *
     * @param folders where each run has written its results
     * @throws IllegalArgumentException when there are none, or they say nothing, or two runs say something of one store
     */
    public static String of(List<Path> folders) {
        Table table = new Table();
        folders.forEach(table::read);
        return table.text();
    }

    private void read(Path folder) {
        JsonNode run;
        try {
            run = new ObjectMapper().readTree(Files.readString(folder.resolve(RESULTS)));
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "no results of a challenge in " + folder + ": "
                            + String.valueOf(e.getMessage()).replaceFirst("(?s)\n.*", ""),
                    e);
        }
        try {
            if (!run.required("complete").asBoolean()) {
                throw new IllegalArgumentException("the run is not complete");
            }
            if (!run.required("invalid").isEmpty()) {
                throw new IllegalArgumentException("the run is invalid");
            }
            run.required("settings").properties().forEach(store -> {
                String title = title(store.getKey(), store.getValue().asText());
                if (stores.put(store.getKey(), title) != null) {
                    throw new IllegalArgumentException("another run is of " + store.getKey() + ", too");
                }
            });
            run.required("cells").forEach(cell -> entries.add(Entry.of(cell)));
            run.required("notTested").forEach(line -> notTested.add(line.asText()));
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IllegalArgumentException(folder.resolve(RESULTS) + ": " + e.getMessage(), e);
        }
    }

    /** As "Redis 7.0.15 with Sentinel". */
    private static String title(String store, String settings) {
        return settings.replaceFirst(",.*", "") + (store.equals("sentinel") ? " with Sentinel" : "");
    }

    private String text() {
        StringBuilder text = new StringBuilder("| store | faults | Holdfast | other libraries |\n|---|---|---|---|\n");
        stores.forEach((store, title) -> {
            for (Faults.Group group : Faults.GROUPS) {
                Set<String> faults = group.faults().stream().map(Fault::id).collect(Collectors.toSet());
                List<Entry> here = entries.stream()
                        .filter(entry -> entry.store().equals(store) && faults.contains(entry.fault()))
                        .toList();
                if (!here.isEmpty()) {
                    text.append("| " + title + " | " + group.title() + " | " + said(here, Role.HOLDFAST) + " | "
                            + said(here, Role.PEER) + " |\n");
                }
            }
        });
        notTested.forEach(line -> text.append("\n").append(line).append("\n"));
        return text.toString();
    }

    /** What was seen of the locks of one side, each by its title; those of which the same was seen, together. */
    private static String said(List<Entry> here, Role side) {
        Map<String, List<Entry>> locks = here.stream()
                .filter(entry -> entry.role() == side)
                .collect(Collectors.groupingBy(Entry::lock, LinkedHashMap::new, Collectors.toList()));
        Map<String, List<String>> titles = new LinkedHashMap<>();
        locks.forEach((title, of) -> titles.computeIfAbsent(verdicts(of), unused -> new ArrayList<>())
                .add(title));
        boolean isOne = side == Role.HOLDFAST && locks.size() == 1; // the column says whose it is
        return titles.isEmpty()
                ? "–"
                : titles.entrySet().stream()
                        .map(entry -> (isOne ? "" : String.join(", ", entry.getValue()) + ": ") + entry.getKey())
                        .collect(Collectors.joining(". "));
    }

    /**
     * Of one lock: what held, with the bound of the fault and use that were bitten least often; then each fault that it did not
     * bear.
     */
    private static String verdicts(List<Entry> of) {
        Map<String, List<Entry>> byFault =
                of.stream().collect(Collectors.groupingBy(Entry::fault, LinkedHashMap::new, Collectors.toList()));
        List<List<Entry>> held = byFault.values().stream()
                .filter(uses -> uses.stream().allMatch(use -> use.verdict() == Verdict.HELD))
                .toList();
        List<String> parts = new ArrayList<>();
        if (!held.isEmpty()) {
            parts.add(String.format(
                    Locale.ROOT,
                    "HELD under %d of %d: %,d events, %,d bites, each < %.1f %%",
                    held.size(),
                    byFault.size(),
                    held.stream().mapToLong(Table::events).sum(),
                    held.stream().flatMap(List::stream).mapToLong(Entry::bites).sum(),
                    Row.bound(held.stream()
                            .flatMap(List::stream)
                            .mapToLong(Entry::events)
                            .min()
                            .orElseThrow())));
        }
        byFault.forEach((fault, uses) -> {
            for (Verdict verdict : List.of(Verdict.BROKEN, Verdict.NOT_PROMISED, Verdict.NOT_TESTED)) {
                List<Entry> these =
                        uses.stream().filter(use -> use.verdict() == verdict).toList();
                if (!these.isEmpty()) {
                    parts.add(verdict.title() + " " + fault + found(these));
                }
            }
        });
        return String.join("; ", parts);
    }

    /** The uses of a lock are bitten by the same events. */
    private static long events(List<Entry> uses) {
        return uses.stream().mapToLong(Entry::events).max().orElse(0);
    }

    private static String found(List<Entry> uses) {
        Set<String> checks =
                uses.stream().flatMap(use -> use.checks().stream()).collect(Collectors.toCollection(TreeSet::new));
        return checks.isEmpty()
                ? ""
                : " (" + String.join(", ", checks) + ": "
                        + uses.stream().mapToLong(Entry::seen).sum() + " of "
                        + uses.stream().mapToLong(Entry::bites).sum() + ")";
    }
}
