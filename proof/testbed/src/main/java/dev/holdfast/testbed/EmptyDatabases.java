package dev.holdfast.testbed;

import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The data folders of servers without data. A program of the server makes one, which takes seconds; each server gets a
 * copy of it. Thread-safe.
 */
final class EmptyDatabases {
    private static final String DATA = "data";

    /** By the program that made them. */
    private static final Map<Path, Path> ORIGINALS = new ConcurrentHashMap<>();

    private EmptyDatabases() {}

    /** Where the data of a server lies. */
    static Path data(ServerHome home) {
        return home.folder().resolve(DATA);
    }

    /**
     * Puts an empty database into the folder of a server.
     *
     * @param program makes one; equal programs make equal databases
     * @param run runs the program for a folder other than that of the server
     */
    static void copyTo(ServerHome home, Path program, Consumer<ServerHome> run) {
        Path original = ORIGINALS.computeIfAbsent(
                program,
                absent -> Originals.folder(
                        "empty-database-" + version(program),
                        folder -> run.accept(new ServerHome(folder, home.ports()))));
        Folders.copy(original.resolve(DATA), data(home));
    }

    /** Another one after an update, and for each user: the files are the user's own. */
    private static String version(Path program) {
        return Integer.toHexString(Objects.hash(
                program.toAbsolutePath().toString(), program.toFile().lastModified(), System.getProperty("user.name")));
    }
}
