package dev.holdfast.testbed;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The data folders of servers without data. A program of the server makes one, which takes seconds; this is done once per
 * JVM, and each server gets a copy. The originals are deleted at exit. Thread-safe.
 */
final class EmptyDatabases {
    /** By the program that made them. */
    private static final Map<Path, Path> ORIGINALS = new ConcurrentHashMap<>();

    private EmptyDatabases() {}

    /** Where the data of a server lies. */
    static Path data(ServerHome home) {
        return home.folder().resolve("data");
    }

    /**
     * Puts an empty database into the folder of a server.
     *
     * @param program makes one; equal programs make equal databases
     * @param run runs the program for a folder other than that of the server
     */
    static void copyTo(ServerHome home, Path program, Consumer<ServerHome> run) {
        Folders.copy(ORIGINALS.computeIfAbsent(program, absent -> make(home.ports(), run)), data(home));
    }

    private static Path make(List<Integer> ports, Consumer<ServerHome> run) {
        ServerHome home = new ServerHome(Folders.create("empty-database"), ports);
        try {
            run.accept(home);
        } catch (RuntimeException | Error e) {
            Folders.delete(home.folder());
            throw e;
        }
        AtExit.run(() -> Folders.delete(home.folder()));
        return data(home);
    }
}
