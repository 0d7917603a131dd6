package dev.holdfast.jdbc;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.FrozenLayout;
import dev.holdfast.tck.FrozenLayout.Clock;
import dev.holdfast.tck.FrozenLayoutContract;
import dev.holdfast.tck.FrozenTablesContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;

/** The layout of 0.1.0 with mode=session: the rows, and the locks of the server, which a session of its own has. */
abstract class FrozenSessionRows extends FrozenLayoutContract {
    static final String TABLE = "holdfast_lock_session";

    private Connection session;

    abstract ServerDialect dialect();

    /** Of the server. */
    protected abstract String url();

    /** A query for the statements by which sessions have got the locks that they have; not those of broken grants. */
    abstract String locks();

    @Override
    protected FrozenLayout layout() {
        return FrozenLayout.read("0.1.0/" + dialect().names().get(0) + "-session.sql", Map.of("now", Clock.micros()));
    }

    /** The numbers of the server's locks are drawn. */
    @Override
    protected Map<String, String> own() {
        return Map.of("held", "1", "broken", "8", "waited", "2");
    }

    /** As long the client of a session believes in it. */
    @Override
    protected Duration lease() {
        return SessionStore.SESSION;
    }

    @Override
    protected void empty() throws SQLException {
        session = DriverManager.getConnection(url());
        run("DROP TABLE IF EXISTS " + TABLE);
    }

    @AfterEach
    void close() throws SQLException {
        session.close();
    }

    @Override
    protected void run(String command) throws SQLException {
        try (Statement statement = session.createStatement()) {
            statement.execute(command);
        }
    }

    @Override
    protected List<String> stored() throws SQLException {
        List<String> stored = new ArrayList<>();
        stored.add(
                FrozenTablesContract.oneLine(dialect().sessions().orElseThrow().createTable(TABLE)));
        try (Statement statement = session.createStatement()) {
            stored.addAll(FrozenTablesContract.rows(statement, TABLE));
            try (ResultSet row = statement.executeQuery(locks())) {
                while (row.next()) {
                    stored.add(row.getString(1));
                }
            }
        }
        return stored;
    }

    @Override
    protected void end(Grant grant) throws SQLException {
        session.close();
    }

    @Override
    protected Store open(StoreContext context) {
        return new JdbcStoreProvider().open(storeUrl(), context);
    }

    String storeUrl() {
        return url() + "&mode=session";
    }
}
