package dev.holdfast.sqlite;

import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.support.StoredToken;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.TransactionMode;

/**
 * A fence in the file of the locks, in transactions of its own. Its table has the shape of those on the servers.
 *
 * @param file the file
 */
record SqliteFence(Path file) implements StoreFence {
    private static final Duration BUSY_TIMEOUT = Duration.ofSeconds(5);
    private static final String CREATE = "CREATE TABLE IF NOT EXISTS holdfast_fence"
            + " (resource TEXT NOT NULL PRIMARY KEY, token BIGINT NOT NULL)";
    private static final String RAISE = "INSERT INTO holdfast_fence (resource, token) VALUES (?, ?)"
            + " ON CONFLICT (resource) DO UPDATE SET token = excluded.token"
            + " WHERE typeof(token) = 'integer' AND excluded.token >= token";
    private static final String READ =
            "SELECT CASE typeof(token) WHEN 'integer' THEN token END FROM holdfast_fence WHERE resource = ?";

    @Override
    public void check(String resource, long token) {
        SqliteFile.prepare(file);
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout((int) BUSY_TIMEOUT.toMillis());
        config.setTransactionMode(TransactionMode.IMMEDIATE);
        try (Connection connection = config.createConnection("jdbc:sqlite:" + file)) {
            try (Statement durable = connection.createStatement()) {
                durable.execute("PRAGMA synchronous = FULL"); // a fence that forgets protects nothing
            }
            connection.setAutoCommit(false);
            check(connection, resource, token);
            connection.commit();
        } catch (SQLException e) {
            throw new StoreUnavailableException(
                    "cannot check the fence of '" + resource + "' on sqlite:" + file + ": " + e.getMessage()
                            + "; try again",
                    e);
        }
    }

    private void check(Connection connection, String resource, long token) throws SQLException {
        try (Statement create = connection.createStatement()) {
            create.execute(CREATE);
        }
        try (PreparedStatement raise = connection.prepareStatement(RAISE)) {
            raise.setString(1, resource);
            raise.setLong(2, token);
            if (raise.executeUpdate() > 0) {
                return;
            }
        }
        try (PreparedStatement read = connection.prepareStatement(READ)) {
            read.setString(1, resource);
            try (ResultSet row = read.executeQuery()) {
                throw new StaleTokenException(
                        resource,
                        token,
                        StoredToken.of(row.next() ? row.getString(1) : "")
                                .orElseThrow(() -> new StoreRefusedException("sqlite:" + file + " "
                                        + StoredToken.foreign("row is '" + resource + "' of holdfast_fence"))));
            }
        }
    }

    @Override
    public void close() {
        // nothing stays open between two checks
    }
}
