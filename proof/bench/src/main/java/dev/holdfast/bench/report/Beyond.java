package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Results;
import java.util.LinkedHashMap;
import java.util.Map;

/** The tables of a store that are no workloads: what breaks, and what grows. */
final class Beyond {
    private Beyond() {}

    static Map<String, Table> tables(Results results, StoreKind store) {
        Map<String, Table> tables = new LinkedHashMap<>();
        OutageTable.of(results, store).ifPresent(table -> tables.put(OutageTable.TITLE, table));
        GrowthTable.of(results, store).ifPresent(table -> tables.put(GrowthTable.TITLE, table));
        return tables;
    }
}
