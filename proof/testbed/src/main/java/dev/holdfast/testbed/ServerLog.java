package dev.holdfast.testbed;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** The log file of a server, and the place in it where the present run began. */
final class ServerLog {
    private static final int TAIL = 60;

    private final Path file;
    private volatile int mark;

    ServerLog(Path file) {
        this.file = file;
    }

    Path file() {
        return file;
    }

    void mark() {
        mark = bytes().length;
    }

    String all() {
        return new String(bytes(), UTF_8);
    }

    String sinceMark() {
        byte[] bytes = bytes();
        return new String(bytes, mark, bytes.length - mark, UTF_8);
    }

    String tail() {
        List<String> lines = sinceMark().lines().toList();
        return lines.isEmpty()
                ? "(empty)"
                : String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL), lines.size()));
    }

    private byte[] bytes() {
        try {
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return new byte[0];
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }
}
