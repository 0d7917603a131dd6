package dev.holdfast.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.BooleanSupplier;

/**
 * The statements of a claim that waits, which another thread may cancel.
 *
 * @param statement sends them
 * @param cancelled whether the claim has been cancelled
 */
record SessionWait(Statement statement, BooleanSupplier cancelled) {
    boolean isCancelled() {
        return cancelled.getAsBoolean();
    }

    /** The number in the first row of the last of these statements; 0 if it has none. */
    long ask(String sql) throws SQLException {
        boolean isRows = statement.execute(sql);
        while (!isRows && statement.getUpdateCount() >= 0) {
            isRows = statement.getMoreResults();
        }
        try (ResultSet rows = statement.getResultSet()) {
            return rows.next() ? rows.getLong(1) : 0;
        }
    }
}
