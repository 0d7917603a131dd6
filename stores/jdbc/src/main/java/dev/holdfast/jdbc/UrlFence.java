package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.StoreFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;

/**
 * A {@link JdbcFence} in transactions of its own, on a connection for each check.
 *
 * @param connections where they come from
 * @param dialect of their database
 * @param fence what is checked in them
 * @param again whether a failure may pass when the transaction is tried again
 * @param absent whether it failed because the table is not there, and may be made
 * @param explanation the exception for callers, of a resource and a failure
 */
record UrlFence(
        Connections connections,
        ServerDialect dialect,
        JdbcFence fence,
        Predicate<SQLException> again,
        Predicate<SQLException> absent,
        BiFunction<String, SQLException, HoldfastException> explanation)
        implements StoreFence {
    private static final String TABLE = "holdfast_fence";
    private static final int ATTEMPTS = 5;

    /** Less than the driver waits for any answer: the server then says that the row is locked. */
    private static final int STATEMENT_SECONDS = 2;

    static UrlFence on(ServerUrl url, Optional<String> password) {
        String table = url.options().schema().map(schema -> schema + ".").orElse("") + TABLE;
        SqlErrors errors = SqlErrors.ofFence(url.dialect(), url.description(), table);
        return new UrlFence(
                new DriverConnections(url, password),
                url.dialect(),
                JdbcFence.inTable(table),
                e -> errors.isPassing(e) && !errors.isLockedOut(e),
                e -> url.options().createTable() && errors.mayBeMissing(e),
                (resource, e) -> errors.explain("check the fence of", resource, e));
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
            connection.setAutoCommit(false);
            dialect.limitTransaction(connection, STATEMENT_SECONDS);
            if (create) {
                fence.create(connection);
            }
            fence.check(connection, resource, token);
            long began = System.nanoTime();
            dialect.commit(connection, STATEMENT_SECONDS);
            if (System.nanoTime() - began >= TimeUnit.SECONDS.toNanos(STATEMENT_SECONDS)) { // or it was cancelled
                throw new SQLTimeoutException("the commit took too long", "HYT00");
            }
        }
    }

    @Override
    public void close() {
        // nothing stays open between two checks
    }
}
