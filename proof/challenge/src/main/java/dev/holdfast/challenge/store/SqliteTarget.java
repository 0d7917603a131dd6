package dev.holdfast.challenge.store;

import dev.holdfast.bench.TemporaryFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.sqlite.SQLiteJDBCLoader;

/** A file that all workers share. */
final class SqliteTarget implements Target {
    private final Path folder;

    SqliteTarget() {
        try {
            folder = TemporaryFolder.make();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String settings() {
        return "SQLite by sqlite-jdbc " + SQLiteJDBCLoader.getVersion() + ", a file of the workers";
    }

    @Override
    public String url() {
        return "sqlite:" + folder.resolve("locks.db");
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
