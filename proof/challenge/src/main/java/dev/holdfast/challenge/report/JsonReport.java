package dev.holdfast.challenge.report;

import dev.holdfast.bench.report.JsonFile;
import dev.holdfast.challenge.history.LaneHistory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What was seen, for programs. */
public final class JsonReport {
    private JsonReport() {}

    /** Writes it. */
    public static void write(Path file, Results results) throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("complete", results.isComplete());
        all.put("invalid", results.invalid());
        all.put("settings", results.settings());
        all.put("notTested", results.notTested());
        all.put("cells", results.rows().stream().map(JsonReport::row).toList());
        all.put("controls", results.controls().stream().map(JsonReport::row).toList());
        Files.writeString(file, JsonFile.text(all) + "\n");
    }

    private static Map<String, Object> row(Row row) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("cell", row.cell().toString());
        values.put("lock", row.lock().title());
        values.put("role", row.lock().role().toString());
        values.put("verdict", row.verdict().toString());
        values.put("events", row.events());
        values.put("bites", row.bitten());
        values.put("didNotBite", row.missed());
        values.put("seen", row.seen());
        values.put("turns", row.turns());
        values.put("lost", row.lost());
        values.put("failedReleases", row.failedReleases());
        values.put("failedCalls", row.failedCalls());
        values.put("violations", row.violations());
        values.put("broken", row.broken());
        values.put("naiveOverlaps", row.naiveOverlaps());
        row.history().map(LaneHistory::seed).ifPresent(seed -> values.put("seed", seed));
        values.put("file", row.file());
        return values;
    }
}
