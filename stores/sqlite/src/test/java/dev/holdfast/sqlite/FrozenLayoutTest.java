package dev.holdfast.sqlite;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenLayout.Clock;
import dev.holdfast.tck.FrozenTablesContract;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;

/** The layout of 0.1.0 in a file. */
class FrozenLayoutTest extends FrozenTablesContract {
    @TempDir
    Path folder;

    @Override
    protected FrozenLayout layout() {
        Clock monotonic = new Clock(1_000_000, () -> System.nanoTime() / 1_000);
        return FrozenLayout.read(
                "0.1.0/sqlite.sql", Map.of("now", monotonic, "micros", Clock.micros(), "millis", Clock.millis()));
    }

    @Override
    protected Connection connect() throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("locks.db"));
    }

    /** Each test has a file of its own. */
    @Override
    protected void empty() {}

    /** As the file has them. */
    @Override
    protected List<String> creation() throws SQLException {
        List<String> all = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")) {
            while (row.next()) {
                all.add(row.getString(1));
            }
        }
        return all;
    }

    @Override
    protected List<String> tables() {
        return List.of("holdfast_meta", "holdfast_lock", "holdfast_claim", "holdfast_record", "holdfast_fence");
    }

    /** The start of the machine, a moment in it, and an id that no claim has. */
    @Override
    protected Map<String, String> own() {
        return Map.of("boot", BootClock.local().bootId(), "booted", "1", "nobody", "0".repeat(32));
    }

    @Override
    protected Store open(StoreContext context) {
        return new SqliteStoreProvider().open("sqlite:" + folder.resolve("locks.db"), context);
    }

    @Override
    protected StoreFence fence() {
        return new SqliteStoreProvider().openFence("sqlite:" + folder.resolve("locks.db"), Optional.empty());
    }

    /** A free lock is kept for the first in the queue that long. */
    @Override
    protected Duration turn() {
        return Duration.ofNanos(SqliteSql.TURN_MICROS * 1_000);
    }
}
