package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.StoreFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * A {@link JdbcFence} in transactions of its own, on a connection for each check.
 *
 * @param connections where they come from
 * @param fence what is checked in them
 * @param again whether a failure may pass when the transaction is tried again
 * @param absent whether it failed because the table is not there, and may be made
 * @param explanation the exception for callers, of a resource and a failure
 */
record UrlFence(
        Connections connections,
        JdbcFence fence,
        Predicate<SQLException> again,
        Predicate<SQLException> absent,
        BiFunction<String, SQLException, HoldfastException> explanation)
        implements StoreFence {
    private static final String TABLE = "holdfast_fence";
    private static final int ATTEMPTS = 5;

    static UrlFence on(ServerUrl url, Optional<String> password) {
        String table = url.options().schema().map(schema -> schema + ".").orElse("") + TABLE;
        SqlErrors errors = new SqlErrors(url.dialect(), url.description(), table);
        return new UrlFence(
                new DriverConnections(url, password),
                JdbcFence.inTable(table),
                errors::isPassing,
                e -> url.options().createTable() && errors.mayBeMissing(e),
                (resource, e) -> explained(errors, resource, table, e));
    }

    private static HoldfastException explained(SqlErrors errors, String resource, String table, SQLException e) {
        return errors.isMissing(e)
                ? new StoreRefusedException(
                        errors.cannot("check the fence of", resource) + ": table " + table
                                + " does not exist; run the SQL printed by 'holdfast schema --fence'",
                        e)
                : errors.explain("check the fence of", resource, e);
    }

    @Override
    public void check(String resource, long token) {
        boolean create = false; // only where it is missing: an account may have no right to
        for (int attempt = 1; ; attempt++) {
            try {
                checkOnce(resource, token, create);
                return;
            } catch (SQLException e) {
                create = absent.test(e);
                if (attempt == ATTEMPTS || !create && !again.test(e)) {
                    throw explanation.apply(resource, e);
                }
            }
        }
    }

    private void checkOnce(String resource, long token, boolean create) throws SQLException {
        try (Connection connection = connections.open()) {
            if (create) {
                fence.create(connection);
            }
            connection.setAutoCommit(false);
            fence.check(connection, resource, token);
            connection.commit();
        }
    }

    @Override
    public void close() {
        // nothing stays open between two checks
    }
}
