package dev.holdfast.jdbc;

import java.sql.Connection;
import javax.sql.DataSource;

/**
 * Locks that live in a transaction of the caller: they end with its commit or rollback, and may end with a rollback to a
 * savepoint that was set before they were acquired.
 *
 * <pre>{@code
 * JdbcLocks locks = JdbcLocks.on(dataSource);
 * try (Connection connection = dataSource.getConnection()) {
 *     connection.setAutoCommit(false);
 *     locks.inTransaction(connection).lock("account:7");      // waits for the transaction that has it
 *     withdraw(connection, 100);
 *     connection.commit();                                    // and the lock is free
 * }
 * }</pre>
 *
 * <p>The lock and the data are one transaction of one database. So no lease can run out, no token is needed, and a
 * process that dies leaves neither. In return the lock cannot outlive the transaction, and protects nothing outside the
 * database.
 *
 * <p>How it works: a name is a row of table {@code holdfast_lock_row}, and {@code SELECT … FOR UPDATE} locks it. The row
 * of a new name is inserted first, in a transaction of its own on another connection of the data source, for a row that
 * is not there locks nothing. The names that were seen are remembered, so that happens once. The table has one row for
 * each name, some 50 bytes, for ever.
 *
 * <p>The data source must be the pool itself, not a proxy that returns the connection of the transaction. Give the pool
 * one connection more than the threads that work in transactions. Works on PostgreSQL, MariaDB 10.6, MySQL 8 and H2 2.2
 * or later; not on SQLite, which locks its whole file. Thread-safe.
 */
public final class JdbcLocks {
    private final LockedRows rows;

    private JdbcLocks(LockedRows rows) {
        this.rows = rows;
    }

    /**
     * Locks in table {@code holdfast_lock_row}, created when missing.
     *
     * @param dataSource of the same database as the transactions, for the rows of new names. Where its connections and
     *     those of the transactions are in different schemas, use {@link #on(DataSource, JdbcOptions)} and name the schema
     */
    public static JdbcLocks on(DataSource dataSource) {
        return on(dataSource, JdbcOptions.defaults());
    }

    /**
     * Locks in a table that the options name: theirs with {@code _row} behind it.
     *
     * @param dataSource of the same database as the transactions, for the rows of new names
     * @param options where the table is, and whether it may be created; the number of connections has no meaning here
     */
    public static JdbcLocks on(DataSource dataSource, JdbcOptions options) {
        return new JdbcLocks(new LockedRows(dataSource::getConnection, options));
    }

    /**
     * The locks of one transaction. Asks the database nothing.
     *
     * @param connection the caller's, for example {@code DataSourceUtils.getConnection(dataSource)} of Spring, or the one
     *     that JPA's provider unwraps; never closed, committed or rolled back here
     */
    public TransactionLocks inTransaction(Connection connection) {
        return new TransactionLocks(connection, rows);
    }
}
