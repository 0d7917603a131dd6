package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Results;
import java.io.PrintStream;

/** The report as people read it when the run is over. */
public final class Terminal {
    private Terminal() {}

    /** Prints everything. */
    public static void print(Results results, PrintStream out) {
        for (StoreKind store : StoreKind.values()) {
            results.cells().stream()
                    .filter(cell -> cell.store() == store)
                    .map(Cell::workload)
                    .distinct()
                    .forEach(workload -> out.printf(
                            "%n%s: %s%n%s",
                            store.title(),
                            workload.title(),
                            Tables.of(results, store, workload.id()).toText()));
        }
        for (StoreKind store : StoreKind.values()) {
            Beyond.tables(results, store)
                    .forEach((title, table) -> out.printf("%n%s: %s%n%s", store.title(), title, table.toText()));
        }
        out.printf("%nTargets%n%s", Targets.table(results).toText());
        out.println();
        results.settings().forEach((name, value) -> out.println(name + ": " + value));
        results.leftOut().forEach(what -> out.println("Left out: " + what));
        results.failed().forEach(what -> out.println("FAILED: " + what));
        for (Cell cell : results.failures()) {
            out.printf(
                    "FAILED: %s, %s: %s%n",
                    cell.store().title(),
                    cell.workload().title(),
                    cell.failure().orElse(""));
        }
        for (Cell cell : results.breaches()) {
            out.printf(
                    "NOT EXCLUSIVE: %s on %s, %s: %d%n",
                    cell.peer().id(), cell.store().title(), cell.workload().title(), cell.breaches());
        }
    }
}
