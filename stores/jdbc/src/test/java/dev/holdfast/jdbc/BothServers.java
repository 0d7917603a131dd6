package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.TcpProxy;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A PostgreSQL and a MariaDB for the tests of one class: {@code @RegisterExtension static final BothServers servers}. */
final class BothServers implements BeforeAllCallback, AfterAllCallback {
    private final boolean withClock;
    private @Nullable ServerClock clock;
    private @Nullable MariaDbServer mariaDb;
    private @Nullable PostgresServer postgres;

    BothServers() {
        this(false);
    }

    private BothServers(boolean withClock) {
        this.withClock = withClock;
    }

    /** Servers that go by a {@link #clock} of the test. */
    static BothServers withClock() {
        return new BothServers(true);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        Map<String, String> variables = Map.of();
        if (withClock) {
            clock = orSkip(ServerClock::create);
            variables = clock.environment();
        }
        Map<String, String> environment = variables;
        mariaDb = orSkip(() -> MariaDbServer.start(environment));
        postgres = orSkip(() -> PostgresServer.start(environment));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (postgres != null) {
            postgres.close();
        }
        if (mariaDb != null) {
            mariaDb.close();
        }
        if (clock != null) {
            clock.close();
        }
    }

    ServerClock clock() {
        if (clock == null) {
            throw new IllegalStateException("these servers go by the clock of the machine");
        }
        return clock;
    }

    MariaDbServer mariaDb() {
        if (mariaDb == null) {
            throw new IllegalStateException("MariaDB is started before the first test");
        }
        return mariaDb;
    }

    PostgresServer postgres() {
        if (postgres == null) {
            throw new IllegalStateException("PostgreSQL is started before the first test");
        }
        return postgres;
    }

    /**
     * The server's JDBC URL, with a user who may do anything.
     *
     * @param database {@code mariadb} or {@code postgresql}
     */
    String url(String database) {
        return database.equals("mariadb") ? mariaDb().jdbcUrl() : postgres().jdbcUrl();
    }

    /** The URL of locks that end with a session there. */
    String sessions(String database) {
        return url(database) + "&mode=session";
    }

    /** Runs statements on a connection of their own. */
    void sql(String database, String... statements) throws SQLException {
        Sql.run(url(database), statements);
    }

    /** The number that a query finds. */
    long count(String database, String query) throws SQLException {
        return Sql.number(url(database), query);
    }

    /** Ends all sessions that have a lock now: those of the holders alone. */
    void killHolders(String database) throws SQLException {
        if (database.equals("postgresql")) {
            sql(
                    database,
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid ="
                            + " 'holdfast_lock_session'::regclass"); // those of the queue have other keys
            return;
        }
        try (SqlSession session = new SqlSession(DriverManager.getConnection(url(database)))) {
            String scope = session.only(new MariaDbSessions().scope("holdfast_lock_session"), row -> row.getString(1));
            String holders = "SELECT IS_USED_LOCK(CONCAT('" + scope
                    + "', number)) AS holder FROM holdfast_lock_session HAVING holder IS NOT NULL";
            for (long holder : session.all(holders, row -> row.getLong(1), List.of())) {
                session.execute("KILL " + holder);
            }
        }
    }

    /** Ends all sessions that wait for a lock of sessions. */
    void killWaiters(String database) throws SQLException {
        if (database.equals("postgresql")) {
            sql(
                    database,
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode ="
                            + " 'ExclusiveLock' AND classid <> 'holdfast_lock_session'::regclass");
            return;
        }
        try (SqlSession session = new SqlSession(DriverManager.getConnection(url(database)))) {
            String waiters = "SELECT id FROM information_schema.processlist WHERE state = 'User lock'";
            for (long waiter : session.all(waiters, row -> row.getLong(1), List.of())) {
                session.execute("KILL " + waiter);
            }
        }
    }

    int port(String database) {
        return database.equals("mariadb") ? mariaDb().port() : postgres().port();
    }

    /** A URL of that database's server, by way of a proxy. */
    String through(TcpProxy proxy, String database, String url) {
        return url.replace(":" + port(database) + "/", ":" + proxy.port() + "/");
    }
}
