package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Micros;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** Opens the table on one connection after the other, creates it where it is missing, and checks it. Thread-safe. */
final class TableOpener {
    private static final int STATEMENT_SECONDS = 3;
    static final int ANSWER_SECONDS = 4;
    static final int ANSWER_MILLIS = 1_000 * ANSWER_SECONDS;
    /** A little later than the server itself ends a statement, if it is not in its commit. */
    static final Duration LIMIT = Duration.ofMillis(1_000 * STATEMENT_SECONDS + 100);

    private static final int CREATE_TRIES = 5;
    private static final String MARK_COLUMNS = "name, " + RowSql.COLUMNS;
    private static final String MARK_VALUES = "'', " + RowSql.LAYOUT + ", 1, NULL, 0, 0, 0, '', '', '', 0, '', ''";

    private final ServerDialect dialect;
    private final RowSql sql;
    private final JdbcOptions options;
    private final Connections connections;
    private volatile SqlErrors errors;
    private final TimeSource time;
    private final IdleTime idleTime = new IdleTime();

    /** A connection was opened: what they lead to was looked into. */
    private final AtomicBoolean known = new AtomicBoolean();

    TableOpener(
            ServerDialect dialect, JdbcOptions options, Connections connections, String description, TimeSource time) {
        this.dialect = dialect;
        String table = dialect.quoted(options.qualifiedTable());
        if (options.unlogged()) {
            dialect.createUnlogged(table); // refused where there are none
        }
        this.sql = new RowSql(dialect, table);
        this.options = options;
        this.connections = connections;
        this.errors = new SqlErrors(dialect, description, table).of(options);
        this.time = time;
    }

    ServerDialect dialect() {
        return dialect;
    }

    IdleTime idleTime() {
        return idleTime;
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
        return time.nanoTime();
    }

    /** A connection of ours, set up. */
    LockRows open() throws SQLException {
        Connection connection = connections.open();
        SqlSession session = new SqlSession(connection, new StatementLimit(time, LIMIT, dialect));
        boolean ready = false;
        try {
            session.loan().begin();
            errors.refuseReadOnly(session);
            requireKind(session);
            if (!known.get()) {
                dialect.refuseSharedSessions(session, connections);
            }
            session.loan().take(dialect.settingBack(session));
            dialect.prepare(session, STATEMENT_SECONDS);
            known.set(true);
            ready = true;
            return options.unlogged()
                    ? new UnloggedRows(dialect, sql, errors, session, time::nanoTime)
                    : new LockRows(dialect, sql, errors, session, time::nanoTime);
        } finally {
            if (!ready) {
                returnSession(session, false);
            }
        }
    }

    /**
     * Gives a connection back as it came.
     *
     * @param useless whether nobody else can use it either: a pool that lent it must not lend it again
     */
    void returnSession(SqlSession session, boolean useless) {
        if (useless) {
            session.abort();
        } else {
            session.loan().end();
        }
        session.close();
    }

    /** Creates or checks the table; whether removing idle rows is due. */
    boolean prepare(LockRows table) {
        try {
            Mark mark = mark(table.session());
            if (mark.layout > RowSql.LAYOUT) {
                throw new StoreRefusedException("cannot use " + description() + ": its table " + sql.table
                        + " has layout " + mark.layout + " and this version of Holdfast knows layout " + RowSql.LAYOUT
                        + " at most; use the newer version");
            }
            requireKind(table.session()); // another client may have created it meanwhile
            table.read(""); // fails where columns are missing
            errors = errors.found(table.session(), options);
            return mark.purgeIsDue;
        } catch (SQLException e) {
            throw errors.explain("open the locks", "", e);
        }
    }

    /** A table has one kind of clients: those of an unlogged one know what a crash has emptied. */
    private void requireKind(SqlSession session) throws SQLException {
        Optional<Boolean> unlogged = dialect.isUnlogged(session, sql.table);
        if (unlogged.isPresent() && unlogged.get() != options.unlogged()) {
            throw new StoreRefusedException(errors.cannot("use", "") + ": table " + sql.table + " is "
                    + (options.unlogged() ? "logged" : "unlogged") + ", and this client is set to holdfast.unlogged="
                    + options.unlogged() + "; set all clients of a table alike, name another table, or drop this one"
                    + " while no client runs");
        }
    }

    /** The row of the table itself. */
    private record Mark(long layout, boolean purgeIsDue) {}

    private Mark mark(SqlSession session) throws SQLException {
        List<Object> arguments = List.of(Micros.of(TablePurge.EVERY), dialect.name(""));
        for (int tries = 1; ; tries++) {
            try {
                List<Mark> found =
                        session.all(sql.layout, row -> new Mark(row.getLong(1), row.getLong(2) > 0), arguments);
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
        dialect.requireSchema(session, options);
        if (!options.createTable()) {
            throw new StoreRefusedException("cannot use " + description() + ": there is no table " + sql.table
                    + ", and it may not be created (createTable is off); run what '" + errors.script() + "' prints");
        }
        dialect.lockCreation(session, true);
        boolean created = false;
        try {
            for (String statement : dialect.createTable(sql.table, options)) {
                session.execute(statement);
            }
            created = true;
        } finally {
            unlockCreation(session, created);
        }
    }

    /** Also after a failure: a session of an application's pool would keep everybody out for as long as it lives. */
    private void unlockCreation(SqlSession session, boolean created) throws SQLException {
        try {
            dialect.lockCreation(session, false);
        } catch (SQLException e) {
            if (created) {
                throw e;
            } // else the first failure says what is wrong
        }
    }

    private String markRow() {
        return dialect.insertIfAbsent(sql.table, MARK_COLUMNS, MARK_VALUES);
    }

    /** The row of the table itself, for a script. */
    static String markRowByHand(ServerDialect dialect, String table) {
        return dialect.insertByHand(table, MARK_COLUMNS, MARK_VALUES);
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
