package dev.holdfast.ladder.sql;

import dev.holdfast.ladder.Rung;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What all rungs in a database have: a connection, and tables that are there already. */
abstract class SqlRung implements Rung {
    /** A textbook says a minute; here tests wait until it is over. */
    static final long LEASE_SECONDS = 2;

    /** The class of states in which a constraint is violated. */
    private static final String CONSTRAINT = "23";
    /** SQLite has no states of its own. */
    private static final int SQLITE_CONSTRAINT = 19;

    final Connection database;

    SqlRung(String url) {
        try {
            database = DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs a statement; how many rows it changed. */
    final int change(String sql, Object... values) {
        try (PreparedStatement statement = database.prepareStatement(sql)) {
            bind(statement, values);
            return statement.executeUpdate();
        } catch (SQLException e) {
            if (String.valueOf(e.getSQLState()).startsWith(CONSTRAINT) || e.getErrorCode() == SQLITE_CONSTRAINT) {
                return 0; // there is such a row
            }
            throw new IllegalStateException(e);
        }
    }

    /** The first column of the one row that there is; empty where there is none. */
    final String look(String sql, Object... values) {
        try (PreparedStatement statement = database.prepareStatement(sql)) {
            bind(statement, values);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? rows.getString(1) : "";
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void bind(PreparedStatement statement, Object... values) throws SQLException {
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
    }

    @Override
    public void close() {
        try {
            database.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
