package dev.holdfast.jdbc;

import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.support.StoredToken;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * A fence in a database, inside the caller's own transaction: admits work whose token is at least as high as every token
 * seen before for the same resource, and keeps later holders out of the resource until the transaction ends.
 *
 * <pre>{@code
 * JdbcFence fence = JdbcFence.inTable("holdfast_fence");
 * try (Hold hold = client.lock("account:7").acquire()) {
 *     connection.setAutoCommit(false);
 *     fence.check(connection, "account:7", hold.token());     // StaleTokenException once a later hold was here
 *     withdraw(connection, 100);
 *     connection.commit();
 * }
 * }</pre>
 *
 * <p>How it works: one UPDATE raises the row's token where it is not higher already, and locks the row until commit or
 * rollback. A holder that was overtaken therefore changes nothing: either the later holder's token is in the row and
 * the UPDATE matches none, or the later holder waits for this transaction. Where no row matches, a second statement adds
 * the row of a resource that is new, and a third reads the higher token for the message. On MariaDB and MySQL the UPDATE
 * also counts the check: a row that stays as it is would not be written, and a cluster of several primaries (Galera, group
 * replication) certifies only what is written. There the later of two conflicting commits fails. The data must be in the same
 * database, and changed in the same transaction. In autocommit the check protects nothing but itself.
 *
 * <p>The table has one row for each resource, for ever: a fence that forgets protects nothing. {@link #create} makes it,
 * {@link #script} says how. For exclusive holds only. Works on PostgreSQL, MariaDB, MySQL, H2 and SQLite. Immutable and
 * thread-safe.
 */
public final class JdbcFence {
    private static final Pattern TABLE =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_]{0,49}\\.)?[A-Za-z_][A-Za-z0-9_]{0,49}");
    private static final int LONGEST_RESOURCE = 255;
    private static final int ATTEMPTS = 3;

    private final String table;

    private JdbcFence(String table) {
        this.table = table;
    }

    /**
     * A fence in a table of its own.
     *
     * @param table its name, with a schema or database before a dot if need be: letters, digits and underscores, at most
     *     50 each
     * @throws IllegalArgumentException if it is not such
     */
    public static JdbcFence inTable(String table) {
        if (!TABLE.matcher(table).matches()) {
            throw new IllegalArgumentException(
                    "a fence's table is letters, digits and underscores, at most 50, with a schema before a dot if need"
                            + " be");
        }
        return new JdbcFence(table);
    }

    /**
     * Admits a token in the transaction of a connection.
     *
     * @param connection the caller's, not in autocommit
     * @param resource what is guarded, usually the name of the lock; at most 255 characters
     * @param token of the hold under which the work is done, not negative
     * @throws StaleTokenException if a higher one was admitted before; roll the transaction back
     * @throws IllegalArgumentException if the resource is too long, or the token negative
     * @throws IllegalStateException if the connection is in autocommit
     * @throws dev.holdfast.StoreRefusedException if the table lacks a column; the message has the statement that adds it.
     *     Also if the row of the resource has no token, as another program may write it on SQLite
     * @throws SQLException as the database says, never retried here: a deadlock, a time-out or a conflict of
     *     serializable transactions is the caller's to roll back
     */
    public void check(Connection connection, String resource, long token) throws SQLException {
        if (token < 0) {
            throw new IllegalArgumentException("a token is not negative: " + token);
        }
        if (resource.length() > LONGEST_RESOURCE) {
            throw new IllegalArgumentException("a resource has at most " + LONGEST_RESOURCE + " characters");
        }
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("the fence of '" + resource
                    + "' needs a transaction: switch autocommit off, and change the data before the commit");
        }
        FenceSql sql = FenceSql.of(connection, table);
        for (int i = 0; i < ATTEMPTS; i++) {
            if (raise(connection, sql, resource, token) || add(connection, sql, resource, token)) {
                return;
            }
            OptionalLong admitted = admitted(connection, sql, resource);
            if (admitted.isPresent() && admitted.getAsLong() > token) {
                throw new StaleTokenException(resource, token, admitted.getAsLong());
            }
        }
        throw new SQLException(
                "the fence of '" + resource + "' in " + table + " changed " + ATTEMPTS + " times while token " + token
                        + " was checked; roll back and try again",
                "40001");
    }

    private boolean raise(Connection connection, FenceSql sql, String resource, long token) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(sql.raise())) {
            update.setLong(1, token);
            sql.setResource(update, 2, resource);
            update.setLong(3, token);
            return update.executeUpdate() > 0;
        } catch (SQLException e) {
            if (SqlErrors.isMissingColumn(e)) {
                throw new StoreRefusedException(
                        "cannot check the fence of '" + resource + "' in " + table
                                + ": the table is of an earlier version ("
                                + SqlErrors.firstLine(e) + "); run ALTER TABLE " + table + " ADD COLUMN "
                                + FenceSql.CHECKS,
                        e);
            }
            throw e;
        }
    }

    private static boolean add(Connection connection, FenceSql sql, String resource, long token) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(sql.add())) {
            sql.setResource(insert, 1, resource);
            insert.setLong(2, token);
            return insert.executeUpdate() > 0;
        } catch (SQLException e) {
            if (sql.saysPresent(e)) {
                return false;
            }
            throw e;
        }
    }

    private OptionalLong admitted(Connection connection, FenceSql sql, String resource) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql.read())) {
            sql.setResource(select, 1, resource);
            try (ResultSet row = select.executeQuery()) {
                if (!row.next()) {
                    return OptionalLong.empty();
                }
                OptionalLong token = StoredToken.of(row.getString(1));
                if (token.isEmpty()) {
                    throw new StoreRefusedException("the database of the fence "
                            + StoredToken.foreign("row is '" + resource + "' of " + table));
                }
                return token;
            }
        }
    }

    /**
     * Creates the table unless it is there. Not for a transaction with other work: some databases commit it.
     *
     * @throws SQLException as the database says
     */
    public void create(Connection connection) throws SQLException {
        SqlSession.execute(connection, FenceSql.of(connection, table).create());
    }

    /**
     * The statement that makes the table, where no application may create tables. An account needs SELECT, INSERT
     * and UPDATE on it.
     *
     * @param dialect one of {@link JdbcSchema#dialects}, in upper or lower case
     * @throws IllegalArgumentException if it is none
     */
    public String script(String dialect) {
        return FenceSql.of(dialect, table).create() + ";\n";
    }

    @Override
    public String toString() {
        return "JdbcFence[" + table + "]";
    }
}
