package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The rows that transactions lock, one for each name. They are made on connections of their own: a row made in the
 * caller's transaction would be gone after its rollback, and those that waited for it would meet in a deadlock on MariaDB
 * and MySQL. Thread-safe.
 */
final class LockedRows {
    static final String SUFFIX = "_row";

    private static final int TRIES = 3;
    private static final int MOST_KNOWN = 10_000;

    private final Connections connections;
    private final JdbcOptions options;
    private final Set<String> known = ConcurrentHashMap.newKeySet();
    private volatile boolean checked;

    LockedRows(Connections connections, JdbcOptions options) {
        this.connections = connections;
        this.options = options;
    }

    String table(ServerDialect dialect) {
        return dialect.quoted(options.qualifiedTable()) + SUFFIX;
    }

    /**
     * Makes the row of a name unless it is there. Looked up on another connection: on MariaDB and MySQL an ordinary
     * SELECT of the caller's transaction fixes what that reads later, and a lock of an absent row keeps the row out.
     */
    void ensure(ServerDialect dialect, String name, Connection callers) throws SQLException {
        if (known.contains(name)) {
            return;
        }
        try (Connection own = connections.open()) {
            boolean manual = !own.getAutoCommit();
            if (manual && isCallers(dialect, own, callers)) {
                throw new StoreRefusedException("cannot make the row of lock '" + name + "' in " + table(dialect)
                        + ": the data source returns the connection of the caller's transaction; use the pool itself, such"
                        + " as TransactionAwareDataSourceProxy.getTargetDataSource()");
            }
            check(dialect, own, manual);
            ensure(dialect, name, own, manual);
        }
        if (known.size() >= MOST_KNOWN) {
            known.clear();
        }
        known.add(name);
    }

    /** Once for all names. */
    private void check(ServerDialect dialect, Connection own, boolean manual) throws SQLException {
        if (!checked) {
            try {
                dialect.refuseSeveralPrimaries(own);
            } finally {
                commit(own, manual);
            }
            checked = true;
        }
    }

    void forget(String name) {
        known.remove(name);
    }

    private void ensure(ServerDialect dialect, String name, Connection own, boolean manual) throws SQLException {
        SqlErrors errors = new SqlErrors(dialect, dialect.title(), table(dialect));
        for (int tries = 1; ; tries++) {
            try {
                if (!exists(dialect, name, own)) { // on MariaDB an INSERT waits for those that have locked the row
                    dialect.withoutWaiting(own, () -> insert(dialect, name, own));
                }
                commit(own, manual);
                return;
            } catch (SQLException e) {
                undo(own, manual, e);
                if (SqlErrors.isHeldByOthers(e)) {
                    return; // the transaction that has locked the row has made it
                }
                if (SqlErrors.isDenied(e)) {
                    throw errors.explain("make the row of lock", name, e);
                }
                if (tries == TRIES || !(errors.mayBeMissing(e) || SqlErrors.isConflict(e))) {
                    throw e;
                }
                if (errors.isMissing(e)) {
                    createTable(dialect, errors, own, manual);
                }
            }
        }
    }

    /** Two at a time may fail where one finds the table made by the other: the next try shows it. */
    private void createTable(ServerDialect dialect, SqlErrors errors, Connection own, boolean manual)
            throws SQLException {
        if (!options.createTable()) {
            throw new StoreRefusedException("cannot lock rows of " + table(dialect) + " on " + dialect.title()
                    + ": there is no such table, and it may not be created (createTable is off); run the SQL printed by"
                    + " 'holdfast schema " + dialect.names().get(0) + "'");
        }
        try (Statement statement = own.createStatement()) {
            statement.execute(dialect.createRows(table(dialect)));
            commit(own, manual);
        } catch (SQLException e) {
            undo(own, manual, e);
            if (SqlErrors.isDenied(e)) {
                throw errors.explain("lock rows", "", e);
            }
            if (!errors.mayBeMissing(e)) {
                throw e;
            }
        }
    }

    private static void commit(Connection own, boolean manual) throws SQLException {
        if (manual) {
            own.commit();
        }
    }

    /** A connection that is broken cannot be rolled back; the first failure says why. */
    private static void undo(Connection own, boolean manual, SQLException first) throws SQLException {
        try {
            if (manual) {
                own.rollback();
            }
        } catch (SQLException e) {
            first.addSuppressed(e);
            throw first;
        }
    }

    private boolean exists(ServerDialect dialect, String name, Connection own) throws SQLException {
        try (PreparedStatement select = own.prepareStatement("SELECT 1 FROM " + table(dialect) + " WHERE name = ?")) {
            SqlSession.bind(select, 1, dialect.name(name));
            try (ResultSet row = select.executeQuery()) {
                return row.next();
            }
        }
    }

    private void insert(ServerDialect dialect, String name, Connection own) throws SQLException {
        try (PreparedStatement insert = own.prepareStatement(dialect.insertIfAbsent(table(dialect), "name", "?"))) {
            SqlSession.bind(insert, 1, dialect.name(name));
            insert.executeUpdate();
        }
    }

    /** Where the caller's transaction has failed already, it answers nothing, and no connection of ours is left in one. */
    private static boolean isCallers(ServerDialect dialect, Connection own, Connection callers) throws SQLException {
        long session = sessionOf(dialect, callers);
        return sessionOf(dialect, own) == session;
    }

    private static long sessionOf(ServerDialect dialect, Connection connection) throws SQLException {
        return SqlSession.only(connection, "SELECT " + dialect.sessionId(), row -> row.getLong(1));
    }
}
