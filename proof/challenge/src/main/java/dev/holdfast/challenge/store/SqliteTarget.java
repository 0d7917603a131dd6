package dev.holdfast.challenge.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.sqlite.SQLiteJDBCLoader;

/** A file that all workers share. */
record SqliteTarget(Path folder) implements Target {
    @Override
    public String settings() {
        return "SQLite by sqlite-jdbc " + SQLiteJDBCLoader.getVersion() + ", a file of the workers";
    }

    @Override
    public boolean isFile() {
        return true;
    }

    @Override
    public String url() {
        return "sqlite:" + folder.resolve("locks.db");
    }

    /**
     * Claims that hold or wait, but those of killed processes, which stay out of force until they are purged for their age, as
     * does the row of a lock, with its last number.
     */
    @Override
    public List<String> kept() {
        return SqlTarget.column(
                        "jdbc:" + url(),
                        "SELECT pid || ' ' || name || ' ' || state FROM holdfast_claim UNION ALL"
                                + " SELECT pid || ' ' || name || ' held' FROM holdfast_lock WHERE claim_id IS NOT NULL")
                .stream()
                .filter(row -> isAlive(row.replaceFirst(" .*", "")))
                .toList();
    }

    private static boolean isAlive(String process) {
        return ProcessHandle.of(Long.parseLong(process)).isPresent();
    }

    @Override
    public List<String> openIn(long process) {
        String files = folder.resolve("locks.db").toString(); // and those beside it
        try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(process), "fd"))) {
            return open.flatMap(SqliteTarget::target)
                    .filter(file -> file.startsWith(files))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot see what process " + process + " has open", e);
        }
    }

    private static Stream<String> target(Path descriptor) {
        try {
            return Stream.of(Files.readSymbolicLink(descriptor).toString());
        } catch (IOException closed) {
            return Stream.empty();
        }
    }

    @Override
    public void close() {}
}
