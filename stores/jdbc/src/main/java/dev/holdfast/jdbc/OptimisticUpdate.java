package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * Changes a row that nobody has changed since it was read, and locks nothing meanwhile.
 *
 * <pre>{@code
 * OptimisticUpdate accounts = OptimisticUpdate.byVersion("account", "id", "version");
 * OptimisticUpdate.Result result = accounts.update(dataSource, 7, row -> {
 *     long balance = row.getLong("balance");
 *     return balance < 100 ? Map.of() : Map.of("balance", balance - 100);
 * });
 * switch (result.outcome()) {
 *     case UPDATED -> ship();
 *     case UNCHANGED -> tellThatThereIsTooLittle();
 *     case MISSING -> tellThatThereIsNoAccount();
 *     default -> tellThatTooManyWantIt();                 // GAVE_UP: nothing was changed
 * }
 * }</pre>
 *
 * <p>How it works: the row is read, the caller says what its columns become, and one UPDATE writes them if the version is
 * still the one that was read, and raises the version. If it is not, somebody else was faster: the row is read again, up
 * to {@link #attempts}, after a random pause that grows. All that change the row must raise its version.
 *
 * <pre>
 *   SELECT * FROM account WHERE id = 7                                        version 41, balance 200
 *   UPDATE account SET balance = 100, version = version + 1
 *           WHERE id = 7 AND version = 41                                     1 row: done; 0 rows: a conflict
 * </pre>
 *
 * <p>Where a proxy sends reads to a replica, the row may be older: an update is as safe, but MISSING and UNCHANGED are
 * answers about the older row.
 *
 * <p>Good where conflicts are rare. Where many change one row at once most attempts are wasted: use {@link JdbcLocks}.
 * Works on PostgreSQL, MariaDB, MySQL and H2, by version also on SQLite. Immutable and thread-safe; each method with an
 * option returns a changed copy.
 */
public final class OptimisticUpdate {
    private static final Pattern TABLE =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_]{0,62}\\.)?[A-Za-z_][A-Za-z0-9_]{0,62}");
    private static final Pattern COLUMN = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");
    private static final int ATTEMPTS = 10;
    private static final Duration FIRST_PAUSE = Duration.ofMillis(2);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(200);

    private final String table;
    private final String key;
    private final VersionColumn version;
    private final int attempts;
    private final Duration longestPause;

    private OptimisticUpdate(String table, String key, VersionColumn version, int attempts, Duration longestPause) {
        this.table = table;
        this.key = key;
        this.version = version;
        this.attempts = attempts;
        this.longestPause = longestPause;
    }

    /**
     * Rows that count their changes: {@code version BIGINT NOT NULL DEFAULT 0}.
     *
     * @param table its name, with a schema before a dot if need be
     * @param keyColumn the primary key, of one column
     * @param versionColumn a whole number, never NULL; BIGINT, for a smaller one may end, and stand still
     * @throws IllegalArgumentException if one of them is not letters, digits and underscores
     */
    public static OptimisticUpdate byVersion(String table, String keyColumn, String versionColumn) {
        return of(table, keyColumn, new VersionColumn(versionColumn, false));
    }

    /**
     * Rows that know when they were last changed: {@code updated_at TIMESTAMP(6) NOT NULL}. Each update makes the time
     * later than before, by the column's smallest step at least, so that two updates never have the same.
     *
     * @param table its name, with a schema before a dot if need be
     * @param keyColumn the primary key, of one column
     * @param timestampColumn a date with a time, never NULL; the finer the better
     * @throws IllegalArgumentException if one of them is not letters, digits and underscores
     */
    public static OptimisticUpdate byTimestamp(String table, String keyColumn, String timestampColumn) {
        return of(table, keyColumn, new VersionColumn(timestampColumn, true));
    }

    private static OptimisticUpdate of(String table, String key, VersionColumn version) {
        if (!TABLE.matcher(table).matches()) {
            throw new IllegalArgumentException(
                    "a table is letters, digits and underscores, with a schema before a dot if need be");
        }
        checkColumn(key);
        checkColumn(version.name());
        return new OptimisticUpdate(table, key, version, ATTEMPTS, LONGEST_PAUSE);
    }

    /**
     * How often {@link #update} tries in all; 10 unless it is said otherwise.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    public OptimisticUpdate attempts(int number) {
        if (number < 1) {
            throw new IllegalArgumentException("at least one attempt is needed, not " + number);
        }
        return new OptimisticUpdate(table, key, version, number, longestPause);
    }

    /**
     * How long the pause before another attempt may become; 200 ms unless it is said otherwise. Each pause is random
     * between zero and a limit that begins at 2 ms and doubles.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public OptimisticUpdate longestPause(Duration pause) {
        if (pause.isNegative()) {
            throw new IllegalArgumentException("a pause is not negative: " + pause);
        }
        return new OptimisticUpdate(table, key, version, attempts, pause);
    }

    /**
     * Changes a row, in transactions of its own, and tries again after a conflict.
     *
     * @param dataSource its connections are in autocommit; each attempt takes one, and pauses have none
     * @param keyValue of the row
     * @param change called once for each attempt
     * @return {@link Outcome#UPDATED}, {@link Outcome#UNCHANGED}, {@link Outcome#MISSING} or {@link Outcome#GAVE_UP}
     * @throws StoreRefusedException if the table has no such version column, or it is NULL in this row
     * @throws IllegalStateException if a connection is in a transaction
     * @throws IllegalArgumentException if the change names a column that is none, or the version
     * @throws SQLException as the database or the change says; not after a deadlock or a serialization failure, which
     *     count as conflicts. When the connection broke, the row may have been changed all the same
     * @throws InterruptedException in a pause; nothing was changed
     */
    @CheckReturnValue
    public Result update(DataSource dataSource, Object keyValue, Change change)
            throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            Outcome outcome = attemptAlone(dataSource, keyValue, change);
            if (outcome != Outcome.CONFLICT) {
                return new Result(outcome, attempt);
            }
            if (attempt == attempts) {
                return new Result(Outcome.GAVE_UP, attempt);
            }
            if (Thread.interrupted()) { // a pause of zero does not check it
                throw new InterruptedException();
            }
            TimeUnit.NANOSECONDS.sleep(pause(attempt));
        }
    }

    /** A failure to give the connection back takes nothing from the answer. */
    private Outcome attemptAlone(DataSource dataSource, Object keyValue, Change change) throws SQLException {
        Outcome outcome = null;
        try (Connection connection = dataSource.getConnection()) {
            if (!connection.getAutoCommit()) {
                throw new IllegalStateException("the update of " + table
                        + " is tried again in transactions of its own, and the data source's connections are not in"
                        + " autocommit; use attempt(connection, …), which is part of the caller's transaction");
            }
            outcome = attempt(connection, keyValue, change);
        } catch (SQLException e) {
            if (outcome == null && !SqlErrors.isConflict(e)) {
                throw e;
            }
        }
        return outcome == null ? Outcome.CONFLICT : outcome;
    }

    private long pause(int attempt) {
        long doubled = FIRST_PAUSE.toNanos() << Math.min(attempt - 1, 20);
        long longest = TimeUnit.NANOSECONDS.convert(longestPause); // at most 292 years
        return ThreadLocalRandom.current().nextLong(Math.min(doubled, longest) + 1);
    }

    /**
     * One attempt on a connection of the caller's, and in its transaction if it is in one. After a conflict, roll back and
     * begin again: in REPEATABLE READ the same transaction would only read the old row again.
     *
     * @param keyValue of the row
     * @param change called once, or not at all if there is no row
     * @return {@link Outcome#UPDATED}, {@link Outcome#UNCHANGED}, {@link Outcome#MISSING} or {@link Outcome#CONFLICT}
     * @throws StoreRefusedException if the table has no such version column, or it is NULL in this row
     * @throws IllegalArgumentException if the change names a column that is none, or the version
     * @throws SQLException as the database or the change says
     */
    @CheckReturnValue
    public Outcome attempt(Connection connection, Object keyValue, Change change) throws SQLException {
        String query = "SELECT t.*, " + version.read(connection) + " FROM " + table + " t WHERE t." + key + " = ?";
        Map<String, Object> columns = new LinkedHashMap<>();
        VersionColumn.Seen seen;
        try (PreparedStatement select = prepared(connection, query)) {
            select.setObject(1, keyValue);
            try (ResultSet row = found(select)) {
                if (!row.next()) {
                    return Outcome.MISSING;
                }
                seen = version.seen(row, table, key + " " + keyValue);
                columns.putAll(change.apply(row));
            }
        }
        if (columns.isEmpty()) {
            return Outcome.UNCHANGED;
        }
        columns.keySet().forEach(this::checkChanged);
        return write(connection, keyValue, columns, seen) ? Outcome.UPDATED : Outcome.CONFLICT;
    }

    private boolean write(Connection connection, Object keyValue, Map<String, Object> columns, VersionColumn.Seen seen)
            throws SQLException {
        String set = columns.keySet().stream().map(name -> name + " = ?, ").collect(Collectors.joining());
        String statement = "UPDATE " + table + " SET " + set + version.raised(connection, seen) + " WHERE " + key
                + " = ? AND " + version.compared(connection) + " = ?";
        try (PreparedStatement update = connection.prepareStatement(statement)) {
            List<Object> arguments = new ArrayList<>(columns.values());
            arguments.add(keyValue);
            arguments.add(seen.value());
            for (int i = 0; i < arguments.size(); i++) {
                update.setObject(i + 1, arguments.get(i));
            }
            return update.executeUpdate() > 0;
        }
    }

    /** Some databases check the columns now, the others when it is run. */
    private PreparedStatement prepared(Connection connection, String query) throws SQLException {
        try {
            return connection.prepareStatement(query);
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private ResultSet found(PreparedStatement select) throws SQLException {
        try {
            return select.executeQuery();
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private SQLException explained(SQLException e) {
        Pattern versionColumn = Pattern.compile("\\b" + version.name() + "\\b", Pattern.CASE_INSENSITIVE);
        if (SqlErrors.isMissingColumn(e)
                && versionColumn.matcher(SqlErrors.firstLine(e)).find()) {
            throw new StoreRefusedException(
                    "cannot update " + table + " by its column '" + version.name()
                            + "': the database finds no such column ("
                            + SqlErrors.firstLine(e) + "); add it, for example: ALTER TABLE " + table + " ADD COLUMN "
                            + version.definition(),
                    e);
        }
        return e;
    }

    private void checkChanged(String column) {
        checkColumn(column);
        if (column.equalsIgnoreCase(version.name())) {
            throw new IllegalArgumentException("the column '" + column + "' is raised by the update itself");
        }
    }

    private static void checkColumn(String column) {
        if (!COLUMN.matcher(column).matches()) {
            throw new IllegalArgumentException(
                    "a column is letters, digits and underscores, and does not begin with a digit");
        }
    }

    @Override
    public String toString() {
        return "OptimisticUpdate[" + table + " by " + version.name() + ", attempts=" + attempts + "]";
    }

    /**
     * What a row becomes. Where a person has seen an earlier version, in a form for example, the change compares: {@code
     * row.getLong("version") == seen ? Map.of("address", address) : Map.of()}.
     */
    @FunctionalInterface
    public interface Change {
        /**
         * Says which columns change.
         *
         * @param row the row as it was read, to be asked by column names; not valid afterwards
         * @return the new values by column, as {@link PreparedStatement#setObject(int, Object)} takes them, a value may be
         *     null where the map allows it; empty if nothing is to be changed
         * @throws SQLException as the row's methods do
         */
        Map<String, ?> apply(ResultSet row) throws SQLException;
    }

    /**
     * What became of an update.
     *
     * @param outcome never {@link Outcome#CONFLICT}
     * @param attempts how many it took, at least 1
     */
    public record Result(Outcome outcome, int attempts) {}

    /** How an update, or one attempt at it, ended. */
    public enum Outcome {
        /** The row was changed, and nobody has changed it between reading and writing. */
        UPDATED,
        /** The change was empty: the caller has seen the row and wants it as it is. */
        UNCHANGED,
        /** There is no such row. */
        MISSING,
        /** Somebody else has changed the row, or deleted it, since it was read. Nothing was changed here. */
        CONFLICT,
        /** All attempts ended in conflicts. Nothing was changed. */
        GAVE_UP
    }
}
