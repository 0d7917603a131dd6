package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;

/** Files and folders below a folder. */
record WatchedFiles(Path folder) implements Watched {
    @Override
    public String name() {
        return "file";
    }

    @Override
    public Map<String, String> present() {
        Map<String, String> present = new HashMap<>();
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) {
                    return note(visited);
                }

                @Override
                public FileVisitResult visitFile(Path visited, BasicFileAttributes attributes) {
                    return note(visited);
                }

                @Override
                public FileVisitResult visitFileFailed(Path visited, IOException failure) throws IOException {
                    if (failure instanceof NoSuchFileException) {
                        // Deleted under our eyes, or a folder that never was: not there, so not left.
                        return FileVisitResult.CONTINUE;
                    }
                    throw failure;
                }

                private FileVisitResult note(Path visited) {
                    if (!visited.equals(folder)) {
                        present.put(visited.toString(), visited.toString());
                    }
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list " + folder, e);
        }
        return present;
    }
}
