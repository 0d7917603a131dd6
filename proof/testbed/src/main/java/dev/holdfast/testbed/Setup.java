package dev.holdfast.testbed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** What is run once in the folder of a server before its first start. */
final class Setup {
    private Setup() {}

    /**
     * Runs a program to its end.
     *
     * @throws AssertionError when it fails or takes too long, with all it said
     */
    static void run(ServerHome home, Duration patience, List<String> command) {
        try (ChildProcess program =
                ChildProcess.command(command).directory(home.folder()).start()) {
            if (program.waitFor(patience) != 0) {
                throw new AssertionError("cannot prepare the server: " + program.story());
            }
        }
    }

    /** Writes a text file into the folder of the server, or one below it. */
    static void write(ServerHome home, String name, String text) {
        try {
            Path file = home.folder().resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + name, e);
        }
    }

    /** Whether this JVM runs as root, which some servers refuse and others want to be told. */
    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }
}
