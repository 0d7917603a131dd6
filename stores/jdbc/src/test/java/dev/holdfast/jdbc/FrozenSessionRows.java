package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockClient;
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
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The layout of 0.1.0 with mode=session: the rows, and the locks of the server, which a session of its own has. */
abstract class FrozenSessionRows extends FrozenLayoutContract {
    static final String TABLE = "holdfast_lock_session";

    @AutoClose
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

    @Override
    protected void empty() throws SQLException {
        session = DriverManager.getConnection(url());
        run("DROP TABLE IF EXISTS " + TABLE);
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

    /** As its client would: the row says that it was released. */
    @Override
    protected void end(Grant grant) throws SQLException {
        run("UPDATE " + TABLE + " SET claim_id = NULL WHERE claim_id = '" + grant.id() + "'");
        closeSession();
    }

    void closeSession() throws SQLException {
        session.close();
    }

    /** Its clients believe in a session as long as other stores have leases. */
    @Override
    protected Store open(StoreContext context) {
        return new JdbcStoreProvider()
                .open(storeUrl(), new StoreContext(context.time(), Optional.empty(), Optional.of(LEASE)));
    }

    String storeUrl() {
        return url() + "&mode=session";
    }

    /** Here, for a second. */
    @Test
    void aLockThatWasNotReleasedIsKeptForAsLongAsItsClientBelievesInItsSession() throws Exception {
        put(Duration.ZERO);
        run("UPDATE " + TABLE + " SET session = 1000000 WHERE name = 'held'");
        try (LockClient client = LockClient.connect(storeUrl())) {
            DistributedLock lock = client.lock("held");
            long token = lock.status().grant().orElseThrow().token();

            long ended = System.nanoTime();
            closeSession();

            try (Hold next = lock.acquire()) {
                assertThat(Duration.ofNanos(System.nanoTime() - ended)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
                assertThat(next.token()).isGreaterThan(token);
            }
        }
    }
}
