package dev.holdfast.bench.writes;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The connection on which a database is asked for its counters; it counts what it asks. */
final class Database implements AutoCloseable {
    private final Connection connection;
    private int statements;

    Database(String url) {
        try {
            connection = DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot connect", e);
        }
    }

    /** How many statements went over this connection. */
    int statements() {
        return statements;
    }

    void execute(String statement, Object... parameters) {
        try (PreparedStatement executed = prepared(statement, parameters)) {
            executed.execute();
        } catch (SQLException e) {
            throw new IllegalStateException(statement, e);
        }
    }

    double number(String query) {
        return Double.parseDouble(text(query, 1));
    }

    /** A column of the first row. */
    String text(String query, int column) {
        try (PreparedStatement statement = prepared(query);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getString(column);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
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
