package dev.holdfast.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A folder that is gone when the measurement is over. */
public final class TemporaryFolder {
    private TemporaryFolder() {}

    /** What is done in the folder. */
    public interface Use {
        void in(Path folder) throws IOException;
    }

    public static void use(Use what) throws IOException {
        Path folder = make();
        try {
            what.in(folder);
        } finally {
            delete(folder);
        }
    }

    public static Path make() throws IOException {
        return Files.createTempDirectory("holdfast-bench");
    }

    /** Deletes a folder with all in it, if it exists. */
    public static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        }
    }
}
