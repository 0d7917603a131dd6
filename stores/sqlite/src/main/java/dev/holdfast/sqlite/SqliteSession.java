package dev.holdfast.sqlite;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.support.SafeLog;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.sqlite.BusyHandler;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.LockingMode;
import org.sqlite.SQLiteOpenMode;

/**
 * One connection to the file: its prepared statements, and how it waits when the file is busy.
 *
 * <p>SQLite's own busy handler sleeps up to 100 ms at a time, which causes the long tail of latencies on a contended file.
 * This one naps briefly ({@link BusyTimeout}) and gives up after a few milliseconds, so that the operation starts over and
 * reads the clock again: however long it waited, a lease counts from the attempt that succeeded.
 *
 * <p>For one thread.
 */
final class SqliteSession implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.holdfast.sqlite");

    /** Naps inside a statement before the operation starts over: about five milliseconds. */
    private static final int NAPS_IN_STATEMENT = 10;

    /** After so many writes, of one to three pages each, the log is written back to the file. */
    private static final int CHECKPOINT_AFTER = 500;

    private static final long IDENTITY_CHECK_NANOS = Duration.ofMillis(100).toNanos();

    private final Connection connection;
    private final SqliteFile file;
    private final BusyTimeout busyTimeout;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private long identityChecked = System.nanoTime();
    private @Nullable String apart;
    private int writes;

    private SqliteSession(Connection connection, SqliteFile file, BusyTimeout busyTimeout) {
        this.connection = connection;
        this.file = file;
        this.busyTimeout = busyTimeout;
    }

    /**
     * Opens a connection.
     *
     * @param create whether to create the file if there is none
     */
    static SqliteSession open(SqliteFile file, boolean create, BusyTimeout busyTimeout) {
        return open(file, create, LockingMode.NORMAL, busyTimeout);
    }

    /**
     * Opens a connection whose statements are busy while any other connection has the file open: of this process or of
     * another, in any namespaces, also an idle one. Each has a shared lock on the file itself, and this one an
     * exclusive lock from its first statement on, until it is closed.
     */
    static SqliteSession openAlone(SqliteFile file, BusyTimeout busyTimeout) {
        return open(file, false, LockingMode.EXCLUSIVE, busyTimeout);
    }

    private static SqliteSession open(SqliteFile file, boolean create, LockingMode locking, BusyTimeout busyTimeout) {
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(0);
        config.setLockingMode(locking);
        config.setGetGeneratedKeys(false);
        if (!create) {
            config.resetOpenMode(SQLiteOpenMode.CREATE);
        }
        try {
            Connection connection = config.createConnection("jdbc:sqlite:" + file.path());
            BusyHandler.setHandler(connection, new BusyHandler() {
                @Override
                protected int callback(int naps) {
                    if (naps >= NAPS_IN_STATEMENT || busyTimeout.isOver()) {
                        return 0;
                    }
                    busyTimeout.nap(naps);
                    return 1;
                }
            });
            return new SqliteSession(connection, file, busyTimeout);
        } catch (SQLException e) {
            throw SqliteErrors.explain("cannot open sqlite:" + file.path(), busyTimeout, e);
        }
    }

    /**
     * Runs an operation, again and again while the file is busy and the time limit has not passed. Each statement is a
     * transaction of its own, so a busy one has done nothing.
     *
     * @param action what the operation does, for messages
     * @param object the name it concerns, for messages; may be empty
     */
    <T> T run(String action, String object, Operation<T> operation) {
        refuseApart(action, object);
        for (int tries = 1; ; tries++) {
            try {
                return operation.run();
            } catch (SQLException e) {
                if (!SqliteErrors.isBusy(e)) {
                    forgetStatements(); // the driver has finalized the failed one, and does not report it
                    identityChecked -= IDENTITY_CHECK_NANOS;
                    refuseApart(action, object); // the reason, if that is the one
                }
                if (!SqliteErrors.isBusy(e) || busyTimeout.isOver()) {
                    throw SqliteErrors.explain(cannot(action, object), busyTimeout, e);
                }
                busyTimeout.nap(tries);
            }
        }
    }

    /** The first row of a query, read to its end: the statement commits there, and a commit can fail. */
    <T> Optional<T> first(String sql, Row<T> row, Object... arguments) throws SQLException {
        List<T> all = all(sql, row, arguments);
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(0));
    }

    /** All rows of a query. */
    <T> List<T> all(String sql, Row<T> row, Object... arguments) throws SQLException {
        try (ResultSet rows = bind(sql, arguments).executeQuery()) {
            List<T> all = new ArrayList<>(1);
            while (rows.next()) {
                all.add(row.read(rows));
            }
            return all;
        }
    }

    /** The number in the one row of a query that only reads: the cheapest way, for the most frequent queries. */
    long number(String sql) throws SQLException {
        try (ResultSet row = bind(sql).executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Runs a statement without rows; returns how many it changed. */
    int update(String sql, Object... arguments) throws SQLException {
        int changed = bind(sql, arguments).executeUpdate();
        writes += Math.min(changed, 1);
        return changed;
    }

    /**
     * Writes the log back to the file once it has grown. That waits for the disk, for milliseconds or more; other processes
     * go on meanwhile.
     */
    void checkpointIfDue() {
        if (writes < CHECKPOINT_AFTER) {
            return;
        }
        writes = 0;
        try {
            number("PRAGMA wal_checkpoint(PASSIVE)");
        } catch (SQLException | RuntimeException | Error e) {
            // such as a full disk: the log grows on, and callers learn of it from their own requests
            forgetStatements();
            SafeLog.log(LOG, System.Logger.Level.DEBUG, "the checkpoint of sqlite:" + file.path() + " failed", e);
        }
    }

    /** Runs a statement once, without keeping it. */
    void execute(String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Refuses a row in the layout of a later version: it is not understood here, and so never granted. */
    void refuseNewer(String name, long layout) {
        if (layout > SqliteSql.LAYOUT) {
            throw new StoreRefusedException(cannot("claim", name) + ": it is kept in layout " + layout
                    + " and this version of Holdfast knows layout " + SqliteSql.LAYOUT
                    + " at most; use the newer version");
        }
    }

    /** Whether other processes may no longer see what is done here; checked at most ten times a second, and final. */
    boolean isApart() {
        return whyApart() != null;
    }

    private @Nullable String whyApart() {
        long now = System.nanoTime();
        if (apart == null && now - identityChecked >= IDENTITY_CHECK_NANOS) {
            identityChecked = now;
            apart = file.whyApart();
        }
        return apart;
    }

    @Override
    public void close() {
        forgetStatements();
        try (connection) {
            BusyHandler.clearHandler(connection); // the driver references it for as long as it is set
        } catch (SQLException e) {
            // what could not be closed is closed with the process; no lock depends on it
            SafeLog.log(LOG, System.Logger.Level.DEBUG, "closing sqlite:" + file.path() + " failed", e);
        }
    }

    /** Closes all statements; they are prepared again when they are needed. */
    private void forgetStatements() {
        for (PreparedStatement statement : prepared.values()) {
            try {
                statement.close();
            } catch (SQLException e) {
                SafeLog.log(
                        LOG, System.Logger.Level.DEBUG, "closing a statement of sqlite:" + file.path() + " failed", e);
            }
        }
        prepared.clear();
    }

    private PreparedStatement bind(String sql, Object... arguments) throws SQLException {
        PreparedStatement statement = prepared.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            prepared.put(sql, statement);
        }
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Long number) {
                statement.setLong(i + 1, number);
            } else {
                statement.setString(i + 1, arguments[i].toString());
            }
        }
        return statement;
    }

    private void refuseApart(String action, String object) {
        String why = whyApart();
        if (why != null) {
            throw new StoreRefusedException(cannot(action, object) + ": " + why);
        }
    }

    private String cannot(String action, String object) {
        return "cannot " + action + (object.isEmpty() ? "" : " '" + object + "'") + " on sqlite:" + file.path();
    }

    /** Some statements, run again as a whole when the file was busy. */
    @FunctionalInterface
    interface Operation<T> {
        T run() throws SQLException;
    }

    /** Reads one row. */
    @FunctionalInterface
    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }
}
