package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Private folders of servers. */
final class Folders {
    private Folders() {}

    /** A new folder in the temporary folder. Short: some servers put a socket there, whose path has 108 bytes. */
    static Path create(String name) {
        try {
            return Files.createTempDirectory("holdfast-" + name + "-");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a folder for " + name, e);
        }
    }

    /** Deletes the folder and all that is in it; a missing one is fine. */
    static void delete(Path folder) {
        try {
            if (Files.exists(folder)) {
                Files.walkFileTree(folder, new Deletion());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + folder, e);
        }
    }

    /** Copies a folder that nobody changes meanwhile, with owners and rights. */
    static void copy(Path from, Path to) {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.copy(each, to.resolve(from.relativize(each)), StandardCopyOption.COPY_ATTRIBUTES);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot copy " + from, e);
        }
    }

    /** Makes an empty file. */
    static void touch(Path file) {
        try {
            Files.createFile(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make " + file, e);
        }
    }

    private static final class Deletion extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) throws IOException {
            if (failure != null) {
                throw failure;
            }
            Files.deleteIfExists(folder);
            return FileVisitResult.CONTINUE;
        }
    }
}
