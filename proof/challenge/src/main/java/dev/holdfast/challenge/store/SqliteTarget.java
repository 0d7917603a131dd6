package dev.holdfast.challenge.store;

import java.nio.file.Path;
import org.sqlite.SQLiteJDBCLoader;

/** A file that all workers share. */
record SqliteTarget(Path folder) implements Target {
    @Override
    public String settings() {
        return "SQLite by sqlite-jdbc " + SQLiteJDBCLoader.getVersion() + ", a file of the workers";
    }

    @Override
    public String url() {
        return "sqlite:" + folder.resolve("locks.db");
    }

    @Override
    public void close() {}
}
