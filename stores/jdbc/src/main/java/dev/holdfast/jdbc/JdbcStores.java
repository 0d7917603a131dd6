package dev.holdfast.jdbc;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.TimeSource;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Locks in the database that an application has a {@link DataSource} for: PostgreSQL, MariaDB, MySQL or H2.
 *
 * <pre>{@code
 * try (LockClient client = LockClient.builder(JdbcStores.on(dataSource)).build()) {
 *     try (Hold hold = client.lock("order:42").acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 *
 * <p>The store borrows its connections at the start and keeps them until it is closed: a pool whose threads all wait for
 * a lock could not give one for the release they wait for. Make the pool that much larger. They are in autocommit and
 * READ COMMITTED, never part of the application's transactions.
 */
public final class JdbcStores {
    /** Connections that are taken out of a pool for good are fewer than a store of its own would have. */
    private static final int BORROWED = 2;

    private JdbcStores() {}

    /**
     * Locks in table {@code holdfast_lock}, over 2 connections of the pool, and one more while claims wait.
     *
     * @return as {@link #on(DataSource, JdbcOptions)}
     */
    public static StoreFactory on(DataSource dataSource) {
        return on(dataSource, JdbcOptions.defaults().connections(BORROWED));
    }

    /**
     * Locks kept as the options say.
     *
     * @return the store to be; {@code build()} opens it, and throws {@link dev.holdfast.StoreRefusedException} if the
     *     database is none that is supported, or its table cannot be used, and {@link StoreUnavailableException} if no
     *     connection can be had
     */
    public static StoreFactory on(DataSource dataSource, JdbcOptions options) {
        return StoreFactory.named("the application's DataSource", context -> open(dataSource, options, context.time()));
    }

    private static Store open(DataSource dataSource, JdbcOptions options, TimeSource time) {
        ServerDialect dialect;
        try (Connection connection = dataSource.getConnection()) {
            dialect = ServerDialects.of(connection);
        } catch (SQLException e) {
            throw new StoreUnavailableException(
                    "cannot open the locks in the application's database: no connection can be had; see that its"
                            + " DataSource is in order",
                    e);
        }
        return ServerStore.open(
                dialect,
                options,
                dataSource::getConnection,
                dialect.title() + " (the application's DataSource)",
                time,
                true);
    }
}
