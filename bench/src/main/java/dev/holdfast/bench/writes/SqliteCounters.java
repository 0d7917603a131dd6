package dev.holdfast.bench.writes;

import dev.holdfast.bench.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.sqlite.SQLiteJDBCLoader;

/** A file has no server: what counts are the calls by which this JVM writes it ({@link FileCalls}). */
final class SqliteCounters implements Counters {
    private final FileCalls calls = FileCalls.ofThisJvm();
    private final Path folder;
    private final Database control;

    SqliteCounters() {
        try {
            folder = TemporaryFolder.make();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        control = new Database("jdbc:sqlite:" + folder.resolve("control.db"));
        control.execute("pragma journal_mode=wal");
        control.execute("pragma synchronous=full"); // a commit is a forced write
        control.execute("pragma wal_autocheckpoint=100"); // the log is written back soon
        control.execute("create table control (text text)");
    }

    @Override
    public String url() {
        return "sqlite:" + folder.resolve("locks.db");
    }

    @Override
    public String settings() {
        return "SQLite by sqlite-jdbc " + SQLiteJDBCLoader.getVersion()
                + ", write-ahead log, synchronous=normal; the control has synchronous=full";
    }

    @Override
    public Map<String, Double> counted() {
        return calls.counted();
    }

    @Override
    public Map<String, Double> kept() {
        try (Stream<Path> files = Files.list(folder)) {
            return Map.of(
                    "bytes of files", files.mapToDouble(SqliteCounters::size).sum());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void write(int bytes) {
        control.execute("insert into control values (?)", "x".repeat(bytes));
    }

    @Override
    public void close() {
        control.close();
        try {
            TemporaryFolder.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static double size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
