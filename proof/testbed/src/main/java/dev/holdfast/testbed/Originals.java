package dev.holdfast.testbed;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Folders that take seconds to make and are only read afterwards: unpacked programs, empty databases. Each JVM makes its
 * own and deletes it at exit. If the system property {@code holdfast.testbed.originals} names a folder, they are kept
 * there, and one JVM makes them for all; the build of Holdfast keeps them below its {@code target}.
 */
final class Originals {
    /** The system property. */
    static final String KEPT = "holdfast.testbed.originals";

    private Originals() {}

    /**
     * The folder of that name; of each name, a JVM asks with one thread at a time.
     *
     * @param name the same for equal contents alone
     * @param make fills an empty folder
     */
    static Path folder(String name, Consumer<Path> make) {
        return folder(System.getProperty(KEPT), name, make);
    }

    static Path folder(@Nullable String kept, String name, Consumer<Path> make) {
        return kept == null ? ofThisJvm(name, make) : shared(Path.of(kept), name, make);
    }

    private static Path ofThisJvm(String name, Consumer<Path> make) {
        Path folder = Folders.create(name);
        AtExit.run(() -> Folders.delete(folder));
        make.accept(folder);
        return folder;
    }

    private static Path shared(Path kept, String name, Consumer<Path> make) {
        Path folder = kept.resolve(name);
        Path unfinished = kept.resolve(name + ".unfinished");
        try {
            Files.createDirectories(kept);
            try (FileChannel file = FileChannel.open(kept.resolve(name + ".lock"), CREATE, WRITE);
                    FileLock unused = file.lock()) {
                if (!Files.isDirectory(folder)) {
                    Folders.delete(unfinished); // of a JVM that failed or was killed
                    Files.createDirectory(unfinished);
                    make.accept(unfinished);
                    Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
                }
            }
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make " + folder, e);
        }
    }
}
