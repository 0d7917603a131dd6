package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.List;
import java.util.function.LongSupplier;

/** Opens the table on one connection after the other, creates it where it is missing, and checks it. Thread-safe. */
final class RowTables {
    private static final int STATEMENT_SECONDS = 3;
    static final int ANSWER_SECONDS = 4;
    static final int ANSWER_MILLIS = 1_000 * ANSWER_SECONDS;
    private static final int CREATE_TRIES = 5;

    private final ServerDialect dialect;
    private final RowSql sql;
    private final JdbcOptions options;
    private final Connections connections;
    private final SqlErrors errors;
    private final LongSupplier stamp;

    RowTables(
            ServerDialect dialect,
            JdbcOptions options,
            Connections connections,
            String description,
            LongSupplier stamp) {
        this.dialect = dialect;
        this.sql = new RowSql(dialect, options.qualifiedTable());
        this.options = options;
        this.connections = connections;
        this.errors = new SqlErrors(dialect, description, options.qualifiedTable());
        this.stamp = stamp;
    }

    ServerDialect dialect() {
        return dialect;
    }

    SqlErrors errors() {
        return errors;
    }

    String description() {
        return errors.store();
    }

    ClientClosedException closedException() {
        return new ClientClosedException("the client of " + description() + " is closed; connect again");
    }

    /** The client's time, before a request is sent. */
    long stamp() {
        return stamp.getAsLong();
    }

    /** A connection of ours, set up. */
    RowTable open() throws SQLException {
        Connection connection = connections.open();
        SqlSession session = new SqlSession(connection);
        boolean ready = false;
        try {
            connection.setAutoCommit(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            limitAnswers(connection, ANSWER_MILLIS);
            dialect.prepare(session, STATEMENT_SECONDS);
            ready = true;
            return new RowTable(dialect, sql, session, stamp);
        } finally {
            if (!ready) {
                session.close();
            }
        }
    }

    void giveBack(SqlSession session) {
        try {
            dialect.restore(session);
            limitAnswers(session.connection(), 0);
        } catch (SQLException e) {
            // it is broken, and its pool will see to that
        }
        session.close();
    }

    /** Creates or checks the table. */
    void prepare(RowTable table) {
        try {
            long layout = layout(table.session());
            if (layout > RowSql.LAYOUT) {
                throw new StoreRefusedException("cannot use " + description() + ": its table " + sql.table
                        + " has layout " + layout + " and this version of Holdfast knows layout " + RowSql.LAYOUT
                        + " at most; use the newer version");
            }
            table.read(""); // fails where columns are missing
        } catch (SQLException e) {
            throw errors.explain("open the locks", "", e);
        }
    }

    private long layout(SqlSession session) throws SQLException {
        for (int tries = 1; ; tries++) {
            try {
                List<Long> found = session.all(sql.layout, row -> row.getLong(1), List.of(dialect.name("")));
                if (!found.isEmpty()) {
                    return found.get(0);
                }
                session.execute(markRow());
            } catch (SQLException e) {
                if (tries >= CREATE_TRIES || !errors.mayBeMissing(e)) {
                    throw e;
                }
                if (errors.isMissing(e)) {
                    createUnlessMade(session);
                }
            }
        }
    }

    /** Others may do the same now: what one finds done by another is no failure. */
    private void createUnlessMade(SqlSession session) throws SQLException {
        try {
            create(session);
        } catch (SQLException e) {
            if (!errors.mayBeMissing(e)) {
                throw e;
            }
        }
    }

    private void create(SqlSession session) throws SQLException {
        if (!options.createTable()) {
            throw new StoreRefusedException("cannot use " + description() + ": there is no table " + sql.table
                    + ", and it may not be created (createTable is off); run what 'holdfast schema "
                    + dialect.names().get(0) + "' prints");
        }
        dialect.lockCreation(session, true);
        for (String statement : dialect.createTable(sql.table)) {
            session.execute(statement);
        }
        dialect.lockCreation(session, false);
    }

    private String markRow() {
        return markRow(dialect, sql.table);
    }

    /** The row of the table itself. */
    static String markRow(ServerDialect dialect, String table) {
        return dialect.insertIfAbsent(
                table, "name, " + RowSql.COLUMNS, "'', " + RowSql.LAYOUT + ", 1, NULL, 0, 0, 0, '', '', '', 0, '', ''");
    }

    /** How long an answer may take before the connection counts as broken; 0 for ever. */
    static void limitAnswers(Connection connection, int millis) throws SQLException {
        try {
            connection.setNetworkTimeout(Runnable::run, millis);
        } catch (SQLFeatureNotSupportedException e) {
            // a database inside this process answers or has ended
        }
    }
}
