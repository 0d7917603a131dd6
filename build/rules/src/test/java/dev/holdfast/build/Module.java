package dev.holdfast.build;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** One module of the build: where it lies, and where its main sources and classes are. */
record Module(Path folder, Path classes) {
    /** {@code redis} of {@code stores/redis}. */
    String name() {
        return folder.getFileName().toString();
    }

    /** Whether it keeps locks in some store: {@code stores/jdbc} and its siblings. */
    boolean isStore() {
        return folder.getParent().endsWith("stores");
    }

    /** The Java files of its main code that hold types; none while it is not written yet. */
    List<Path> sources() {
        Path java = folder.resolve("src/main/java");
        if (!Files.isDirectory(java)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(java)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("module-info.java") && !file.endsWith("package-info.java"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name();
    }
}
