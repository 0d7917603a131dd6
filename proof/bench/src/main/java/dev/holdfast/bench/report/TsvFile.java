package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.StoreKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** A file of a store's figures: a line with the names of its columns, then a line for each entry. */
final class TsvFile {
    private TsvFile() {}

    /**
     * The entries; none if there is no file.
     *
     * @param parse throws IllegalArgumentException for a line that is none
     * @throws IOException also for a file that this version did not write
     */
    static <T> List<T> read(Path file, StoreKind store, String head, Function<String, T> parse) throws IOException {
        if (!Files.exists(file)) {
            return List.of();
        }
        List<String> lines = Files.readAllLines(file);
        try {
            if (lines.isEmpty() || !lines.get(0).equals(head)) {
                throw new IllegalArgumentException("other columns than this version reads");
            }
            return lines.stream().skip(1).map(parse).toList();
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    file + ": " + e.getMessage() + "; run './holdfast bench --only " + store.id()
                            + "' again, or delete the file",
                    e);
        }
    }
}
