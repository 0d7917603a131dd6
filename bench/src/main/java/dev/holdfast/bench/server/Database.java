package dev.holdfast.bench.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;

/** One connection on which a server is asked for its own figures. */
final class Database implements AutoCloseable {
    private final Connection connection;

    Database(String url) {
        try {
            connection = DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot connect", e);
        }
    }

    void execute(String statement) throws SQLException {
        try (Statement executed = connection.createStatement()) {
            executed.execute(statement);
        }
    }

    /** The first column of the first row. */
    String text(String query) {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    double number(String query) {
        return Double.parseDouble(text(query));
    }

    /** Rows of a name and a number; other rows are passed over. */
    Map<String, Double> numbers(String query) {
        Map<String, Double> found = new TreeMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                String value = rows.getString(2);
                if (value.matches("\\d+(\\.\\d+)?")) {
                    found.put(rows.getString(1), Double.valueOf(value));
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
        return found;
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            // The server is ended next, and the connection with it.
        }
    }
}
