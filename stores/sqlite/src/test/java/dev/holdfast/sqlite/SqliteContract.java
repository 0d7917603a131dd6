package dev.holdfast.sqlite;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;

/** The contract on the embedded store, a class for each of its storeys. */
abstract class SqliteContract extends StoreContract {
    private static final Duration BUSY_TIMEOUT = Duration.ofSeconds(5);

    @TempDir
    Path folder;

    /** Gives requests up sooner than a store opened by its URL: the cases of outages wait for that. */
    @Override
    protected Store open(StoreContext context) {
        SqliteDatabase database = new SqliteDatabase(folder.resolve("locks.db"), BootClock.local(), context.time());
        return SqliteStore.open(database, context.time(), BUSY_TIMEOUT);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of("sqlite:" + folder.resolve("locks.db"));
    }

    /** Another program writes and does not come to an end. */
    @Override
    protected Optional<AutoCloseable> breakStore() throws SQLException {
        Connection writer = DriverManager.getConnection("jdbc:" + url().orElseThrow());
        writer.createStatement().execute("PRAGMA busy_timeout = 10000");
        writer.createStatement().execute("BEGIN IMMEDIATE");
        return Optional.of(writer);
    }

    @Override
    protected OptionalLong records() throws SQLException {
        String count = "SELECT (SELECT count(*) FROM holdfast_lock) + (SELECT count(*) FROM holdfast_claim)";
        try (Connection reader = DriverManager.getConnection("jdbc:" + url().orElseThrow())) {
            return OptionalLong.of(reader.createStatement().executeQuery(count).getLong(1));
        }
    }

    /** A row for an hour. */
    @Override
    protected long recordsKept(long names) {
        return names;
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of("Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt");
    }
}
