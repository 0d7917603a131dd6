package dev.holdfast.challenge.store;

import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.LocalServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One database server that forces every commit to disk, as it comes.
 *
 * @param server its process
 * @param title what people call it
 * @param url its address, as users of Holdfast write it
 * @param now a query for its wall clock
 * @param kills a query for the statements that end the connections
 * @param isDone which of its answers leave no transaction open
 */
record SqlTarget(
        LocalServer server,
        String title,
        String url,
        String now,
        String kills,
        ChunkMatcher isDone,
        Optional<ServerClock> clock)
        implements Target {
    private static final String CONNECTIONS = "max_connections=1000";

    static SqlTarget mariaDb(Optional<ServerClock> clock) {
        MariaDbServer server = MariaDbServer.start(environment(clock), "--" + CONNECTIONS);
        return new SqlTarget(
                server,
                "MariaDB",
                server.jdbcUrl(),
                "SELECT ROUND(UNIX_TIMESTAMP(SYSDATE(3)) * 1000)",
                "SELECT CONCAT('KILL ', id) FROM information_schema.processlist"
                        + " WHERE id <> CONNECTION_ID() AND command <> 'Daemon'",
                Replies::isIdleMariaDb,
                clock);
    }

    static SqlTarget postgres(Optional<ServerClock> clock) {
        PostgresServer server = PostgresServer.start(environment(clock), "-c", CONNECTIONS);
        return new SqlTarget(
                server,
                "PostgreSQL",
                server.jdbcUrl(),
                "SELECT ROUND(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)",
                "SELECT 'SELECT pg_terminate_backend(' || pid || ')' FROM pg_stat_activity"
                        + " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
                Replies::isIdlePostgres,
                clock);
    }

    private static Map<String, String> environment(Optional<ServerClock> clock) {
        return clock.map(ServerClock::environment).orElse(Map.of());
    }

    @Override
    public String settings() {
        return title + " "
                + ask("SELECT version()").replaceFirst("^PostgreSQL ", "").replaceFirst("[ -].*", "")
                + ", with its defaults";
    }

    @Override
    public Optional<ServerProcess> process() {
        return Optional.of(server.process());
    }

    @Override
    public long wallMillis() {
        return (long) Double.parseDouble(ask(now));
    }

    @Override
    public int killConnections() {
        int killed = 0;
        List<String> statements = column(url, kills);
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String kill : statements) {
                try {
                    statement.execute(kill);
                    killed++;
                } catch (SQLException ended) {
                    // by its client, meanwhile
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the server ends no connections", e);
        }
        return killed;
    }

    /** Rows with a holder or a waiter. A free one stays, with its last number, until it is purged for its age. */
    @Override
    public List<String> kept() {
        return column(
                url, "SELECT name FROM holdfast_lock WHERE claim_id IS NOT NULL OR waiting <> '' OR sharing <> ''");
    }

    private String ask(String query) {
        return column(url, query).get(0);
    }

    /** What a query answers, of one column. */
    static List<String> column(String url, String query) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(query)) {
            List<String> values = new ArrayList<>();
            while (answer.next()) {
                values.add(answer.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException("no answer to " + query, e);
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
