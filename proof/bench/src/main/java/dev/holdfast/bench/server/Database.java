package dev.holdfast.bench.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;

/** One connection on which a server is asked for its own figures; it counts what it asks. */
public final class Database implements AutoCloseable {
    private final Connection connection;
    private int statements;

    /** Connects. */
    public Database(String url) {
        try {
            connection = DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot connect", e);
        }
    }

    /** How many statements went over this connection. */
    public int statements() {
        return statements;
    }

    /** Runs a statement. */
    public void execute(String statement, Object... parameters) {
        try (PreparedStatement executed = prepared(statement, parameters)) {
            executed.execute();
        } catch (SQLException e) {
            throw new IllegalStateException(statement, e);
        }
    }

    /** The first column of the first row. */
    public String text(String query) {
        return text(query, 1);
    }

    /** A column of the first row. */
    public String text(String query, int column) {
        try (PreparedStatement statement = prepared(query);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getString(column);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    /** The first column of the first row. */
    public double number(String query) {
        return Double.parseDouble(text(query));
    }

    /** Rows of a name and a number; other rows are passed over. */
    Map<String, Double> numbers(String query) {
        Map<String, Double> found = new TreeMap<>();
        try (PreparedStatement statement = prepared(query);
                ResultSet rows = statement.executeQuery()) {
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

    private PreparedStatement prepared(String statement, Object... parameters) throws SQLException {
        statements++;
        PreparedStatement prepared = connection.prepareStatement(statement);
        for (int i = 0; i < parameters.length; i++) {
            prepared.setObject(i + 1, parameters[i]);
        }
        return prepared;
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
