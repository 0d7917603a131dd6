package dev.holdfast.jdbc;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;

/** Random histories on a file. */
class SqliteFuzzTest extends StoreFuzz {
    @TempDir
    Path folder;

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return new JdbcStoreProvider().open("sqlite:" + file(), context);
    }

    private Path file() {
        return folder.resolve("locks.db");
    }

    @Override
    protected boolean isExtendable() {
        return true;
    }

    /** In a file no late copy of a claim can come, so that a claim asked again may be numbered anew. */
    @Override
    protected boolean repeatsKeepNumbers() {
        return false;
    }

    /** One that was made a reader would be refused. */
    @Override
    protected boolean repeatsChanged() {
        return false;
    }

    @Override
    protected Optional<String> fingerprint(String prefix) throws SQLException {
        String url = "jdbc:sqlite:" + file();
        return Optional.of(
                ServerFuzz.rows(url, "holdfast_lock", prefix) + ServerFuzz.rows(url, "holdfast_claim", prefix));
    }
}
