package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.PeerKind.Role;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.run.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The files, one for each store, with the rows that its pictures show. */
final class DrawnRows {
    private final Path folder;

    DrawnRows(Path folder) {
        this.folder = folder;
    }

    /** Writes the rows of a store, in place of those that an earlier run measured. */
    void write(Results results, StoreKind store, Predicate<String> isDrawn) throws IOException {
        List<String> lines = new ArrayList<>(List.of(DrawnRow.head()));
        results.cells().stream()
                .filter(cell -> cell.store() == store
                        && cell.isSound()
                        && isDrawn.test(cell.workload().id()))
                // the ceiling is so far above the others that they would share one point
                .filter(cell -> cell.peer().role() != Role.CEILING)
                .map(DrawnRow::of)
                .filter(row -> row.perSecond() > 0)
                .forEach(row -> lines.add(row.toLine()));
        if (lines.size() == 1) {
            Files.deleteIfExists(file(store));
        } else {
            Files.createDirectories(folder);
            Files.write(file(store), lines);
        }
    }

    /**
     * The rows of a store; none if there is no file.
     *
     * @throws IOException also for a file that this version did not write
     */
    List<DrawnRow> read(StoreKind store) throws IOException {
        return TsvFile.read(file(store), store, DrawnRow.head(), DrawnRow::parse);
    }

    private Path file(StoreKind store) {
        return folder.resolve("bench-" + store.id() + ".tsv");
    }
}
