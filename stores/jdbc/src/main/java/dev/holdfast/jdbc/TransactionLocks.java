package dev.holdfast.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The locks of one transaction; see {@link JdbcLocks}. A lock that the transaction has already is acquired again at once.
 *
 * <pre>{@code
 * TransactionLocks locks = jdbcLocks.inTransaction(connection);
 * if (!locks.tryLock("invoice:9", Duration.ofSeconds(2))) {
 *     return "another transaction works on invoice 9";
 * }
 * }</pre>
 *
 * <p>Nothing is tried again here. A {@code tryLock} without success leaves the transaction as it was. What else the
 * database says is thrown as it is: after a deadlock (SQL state {@code 40001} or {@code 40P01}) or a conflict of
 * serializable transactions, roll back and begin again. Two names are locked in one order everywhere, or deadlocks follow.
 *
 * <p>Lock first, then read the data. On PostgreSQL a transaction in REPEATABLE READ or SERIALIZABLE reads the data as they
 * were before the wait, so use READ COMMITTED, the default. On MariaDB and MySQL the data are read as of the first
 * ordinary SELECT: let none come before the lock, or read {@code FOR UPDATE}.
 *
 * <p>For the thread that uses the connection. A wait does not end when the thread is interrupted.
 */
public final class TransactionLocks {
    private static final int LONGEST_NAME = 255;
    private static final Set<String> ABORTED = Set.of("25P02");

    private final Connection connection;
    private final LockedRows rows;

    TransactionLocks(Connection connection, LockedRows rows) {
        this.connection = connection;
        this.rows = rows;
    }

    /**
     * Waits until no other transaction has the lock.
     *
     * @param name 1 to 255 characters, none of them a control character; compared character by character
     * @throws IllegalArgumentException if the name is not such
     * @throws IllegalStateException if the connection is in autocommit, or its transaction has failed already
     * @throws dev.holdfast.StoreRefusedException if the database has no such locks, or its table is missing and may not be
     *     created, or the data source returns the connection of the transaction itself
     * @throws SQLException as the database says: also when its own limit to lock waits is reached ({@code lock_timeout} of
     *     PostgreSQL, {@code innodb_lock_wait_timeout}, H2's {@code LOCK_TIMEOUT} of one or two seconds), and then the
     *     lock is not acquired
     */
    public void lock(String name) throws SQLException {
        acquire(name, null);
    }

    /**
     * Acquires the lock if no other transaction has it. Does not wait for the lock. The first use of a name takes a second
     * connection of the data source, and waits where the pool has none free.
     *
     * @param name as in {@link #lock}
     * @return whether this transaction has the lock
     * @throws IllegalArgumentException as {@link #lock}
     * @throws IllegalStateException as {@link #lock}
     * @throws dev.holdfast.StoreRefusedException as {@link #lock}
     * @throws SQLException as the database says
     */
    @CheckReturnValue
    public boolean tryLock(String name) throws SQLException {
        return acquire(name, Duration.ZERO);
    }

    /**
     * Waits for so long at most. MariaDB and MySQL count whole seconds: there a part of a second counts as one.
     *
     * @param name as in {@link #lock}
     * @param timeout up to 24 days; zero or less does not wait
     * @return whether this transaction has the lock; false also when the server's own limit to lock waits is shorter
     * @throws IllegalArgumentException as {@link #lock}
     * @throws IllegalStateException as {@link #lock}
     * @throws dev.holdfast.StoreRefusedException as {@link #lock}
     * @throws SQLException as the database says
     */
    @CheckReturnValue
    public boolean tryLock(String name, Duration timeout) throws SQLException {
        return acquire(name, timeout);
    }

    private boolean acquire(String name, @Nullable Duration timeout) throws SQLException {
        check(name);
        if (connection.getAutoCommit()) {
            throw new IllegalStateException(
                    "lock '" + name + "' needs a transaction: switch autocommit off, and commit when the work is done");
        }
        ServerDialect dialect = ServerDialects.of(connection);
        try {
            rows.ensure(dialect, name, connection);
            return timeout == null
                    ? found(dialect, name, locked(dialect, name, ""))
                    : acquireWithin(dialect, name, timeout);
        } catch (SQLException e) {
            if (timeout == null && SqlErrors.isHeldByOthers(e) && !dialect.failureEndsTransaction()) {
                dialect.checkNotRolledBack(connection, e);
            }
            if (SqlErrors.has(e, ABORTED)) {
                throw new IllegalStateException(
                        "lock '" + name
                                + "' cannot be acquired: an earlier statement of this transaction failed, so the"
                                + " server accepts no more; roll back",
                        e);
            }
            throw e;
        }
    }

    /**
     * Where a failed statement ends the transaction, what comes before it is kept by a savepoint. By statements: connections
     * of distributed transactions refuse the methods.
     */
    private boolean acquireWithin(ServerDialect dialect, String name, Duration timeout) throws SQLException {
        boolean keeps = dialect.failureEndsTransaction();
        if (keeps) {
            SqlSession.execute(connection, "SAVEPOINT holdfast_lock");
        }
        boolean acquired = false;
        boolean found = true;
        try {
            found = timeout.isNegative() || timeout.isZero()
                    ? locked(dialect, name, " NOWAIT")
                    : dialect.lockWithin(connection, millis(timeout), how -> locked(dialect, name, how));
            acquired = found;
        } catch (SQLException e) {
            if (!SqlErrors.isHeldByOthers(e)) {
                throw e;
            }
            dialect.checkNotRolledBack(connection, e);
            if (keeps) {
                SqlSession.execute(connection, "ROLLBACK TO SAVEPOINT holdfast_lock");
            }
        }
        if (keeps) {
            SqlSession.execute(connection, "RELEASE SAVEPOINT holdfast_lock");
        }
        found(dialect, name, found);
        return acquired;
    }

    private boolean locked(ServerDialect dialect, String name, String how) throws SQLException {
        String query = "SELECT 1 FROM " + rows.table(dialect) + " WHERE name = ? FOR UPDATE" + how;
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            SqlSession.bind(statement, 1, dialect.name(name));
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private boolean found(ServerDialect dialect, String name, boolean found) throws SQLException {
        if (found) {
            return true;
        }
        rows.forget(name);
        throw new SQLException(
                "lock '" + name + "' was not acquired: its row in " + rows.table(dialect)
                        + " was made after this transaction"
                        + " began to read, or was deleted; roll back and begin again",
                "40001");
    }

    private static long millis(Duration timeout) {
        Duration longest = Duration.ofMillis(Integer.MAX_VALUE);
        return timeout.compareTo(longest) > 0 ? longest.toMillis() : Math.max(1, timeout.toMillis());
    }

    /** A half surrogate would become another name's bytes. */
    private static void check(String name) {
        if (name.isEmpty()
                || name.length() > LONGEST_NAME
                || name.chars().anyMatch(Character::isISOControl)
                || !UTF_8.newEncoder().canEncode(name)) {
            throw new IllegalArgumentException("a lock's name is 1 to " + LONGEST_NAME
                    + " characters, none of them a control character or half a surrogate pair");
        }
    }
}
