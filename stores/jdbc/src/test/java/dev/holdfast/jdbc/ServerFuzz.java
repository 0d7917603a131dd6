package dev.holdfast.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.fuzz.StoreFuzz;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.ServerProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.StringJoiner;
import org.junit.jupiter.api.AutoClose;

/** Random histories on a database server. */
abstract class ServerFuzz extends StoreFuzz {
    @AutoClose
    private ServerClock clock;

    abstract ServerProcess server();

    /** What the server is to be started with: the clock that is set, if it is to be set. */
    Map<String, String> environment() {
        if (!setsClocks()) {
            return Map.of();
        }
        clock = OrSkip.orSkip(ServerClock::create);
        return clock.environment();
    }

    @Override
    protected Optional<ServerClock> clock() {
        return Optional.ofNullable(clock);
    }

    /** The URL of a client. */
    abstract String url(int port, int client);

    @Override
    protected Store open(StoreContext context, int port, int client) {
        return new JdbcStoreProvider().open(url(port, client), context);
    }

    @Override
    protected OptionalInt port() {
        return OptionalInt.of(server().port());
    }

    @Override
    protected Optional<ServerProcess> process() {
        return Optional.of(server());
    }

    /** A look of a waiter, which comes every three seconds by its clock, and five for a connection. */
    @Override
    protected Duration wordOfAnOutage() {
        return Duration.ofSeconds(12);
    }

    @Override
    protected Optional<String> fingerprint(String prefix) throws SQLException {
        return Optional.of(rows(url(server().port(), 0), "holdfast_lock", prefix));
    }

    private static String rows(String url, String table, String prefix) throws SQLException {
        StringJoiner rows = new StringJoiner("\n    ");
        try (Connection reader = DriverManager.getConnection(url);
                PreparedStatement statement = reader.prepareStatement(
                        "SELECT * FROM " + table + " WHERE name >= ? AND name < ? ORDER BY 1, 2")) {
            boolean text = url.startsWith("jdbc:postgresql");
            statement.setObject(1, text ? prefix : prefix.getBytes(UTF_8));
            statement.setObject(2, text ? prefix + "~" : (prefix + "~").getBytes(UTF_8));
            ResultSet found = statement.executeQuery();
            while (found.next()) {
                StringJoiner row = new StringJoiner(" ");
                for (int column = 1; column <= found.getMetaData().getColumnCount(); column++) {
                    row.add(found.getString(column));
                }
                rows.add(row.toString());
            }
        }
        return rows.toString();
    }
}
