package dev.holdfast.bench.server;

import dev.holdfast.bench.TemporaryFolder;
import dev.holdfast.bench.peer.StoreKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.sqlite.SQLiteJDBCLoader;

/** A file; the bytes written to it are counted by the processes that write them. */
final class SqliteFile implements Server {
    private final Path folder;

    SqliteFile() {
        try {
            folder = TemporaryFolder.make();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public StoreKind kind() {
        return StoreKind.SQLITE;
    }

    @Override
    public String url() {
        return "sqlite:" + folder.resolve("locks.db");
    }

    @Override
    public String settings() {
        return "SQLite by sqlite-jdbc " + SQLiteJDBCLoader.getVersion()
                + ", write-ahead log, synchronous=normal (a commit is not flushed by itself)";
    }

    @Override
    public Map<String, Double> residue() {
        try (Stream<Path> files = Files.list(folder)) {
            double bytes = 0;
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
            return Map.of("bytes", bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            TemporaryFolder.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
