package dev.holdfast.jdbc;

import dev.holdfast.UnsupportedByStoreException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What is particular to one kind of database server: its clock, its types, how a changed row comes back, how a client is
 * woken. What a lock is, and how it goes from state to state, is in {@link LockTransition} and the same for all.
 *
 * <p>Thread-safe.
 */
interface ServerDialect {
    /** What people call it: {@code PostgreSQL}. */
    String title();

    /** Its pages and URLs: {@code postgresql}; the first is the usual one. */
    List<String> names();

    /** Its clock in microseconds since 1970, the same throughout a statement and never frozen for longer. */
    String now();

    /** Makes a statement give back the value of an expression that it assigns; the expression itself where rows do. */
    String givenBack(String expression);

    /** The value of an expression that the same UPDATE has assigned to a column before: the column, where it reads as that. */
    default String assigned(String column, String expression) {
        return expression;
    }

    /** A statement that inserts one row, and changes nothing and says nothing where there is one of that name. */
    String insertIfAbsent(String table, String columns, String values);

    /** The statement that inserts the row of the table itself, in a script that may be run again. */
    default String insertByHand(String table, String columns, String values) {
        return insertIfAbsent(table, columns, values);
    }

    /** The query for one row whose answer decides what is written: no replica may answer it. */
    default String readToChange(String query) {
        return query;
    }

    /** The query of a claim that is in the queue and asks again: the primary answers it where that costs no lock. */
    default String readToPoll(String query) {
        return query;
    }

    /** A lock's name as the database compares and sorts it: byte for byte. */
    Object name(String name);

    /** A name behind all that begin so; further ones may be before it. What {@link #bound} takes. */
    Object behind(String prefix);

    /** The expression for a parameter made by {@link #behind}. */
    default String bound(String table) {
        return "?";
    }

    /** The clause for so many rows (a number, or a parameter) behind some others. */
    default String rows(String number, int others) {
        return " LIMIT " + number + (others == 0 ? "" : " OFFSET " + others);
    }

    /** A table as statements name it: the schema before its dot is written as the user wrote it. */
    default String quoted(String table) {
        return table;
    }

    /**
     * Asked before a table is made.
     *
     * @throws SQLException as when it is made in a schema that is missing
     */
    default void requireSchema(SqlSession session, JdbcOptions options) throws SQLException {}

    /** A name read back. */
    String name(ResultSet row, int column) throws SQLException;

    /** The statements that make the table, without the row of the table itself. */
    List<String> createTable(String table);

    /**
     * The same for a table whose changes are not logged; see {@link UnloggedRows}.
     *
     * @throws UnsupportedByStoreException if the database has none
     */
    default List<String> createUnlogged(String table) {
        throw new UnsupportedByStoreException("cannot keep locks in an unlogged table on " + title()
                + ": only PostgreSQL has them; leave out holdfast.unlogged, or JdbcOptions.unlogged");
    }

    /** The statements that create the table, of the kind that the options ask for. */
    default List<String> createTable(String table, JdbcOptions options) {
        return options.unlogged() ? createUnlogged(table) : createTable(table);
    }

    /**
     * Whether a table is unlogged; empty if it is missing.
     *
     * @throws SQLException also if it is, on a replica, which lets nobody read it: as for a write there
     */
    default Optional<Boolean> isUnlogged(SqlSession session, String table) throws SQLException {
        return Optional.of(false);
    }

    /** The statements that make the table of records; they change nothing if it is there. */
    List<String> createRecords(String table);

    /** Locks that end with a session; empty where the database has none. */
    default Optional<SessionDialect> sessions() {
        return Optional.empty();
    }

    /** The statement that makes the table of rows that callers' transactions lock; it changes nothing if it is there. */
    String createRows(String table);

    /** The expression for the number of a session, which differs from session to session. */
    String sessionId();

    /** Whether a statement that fails ends the caller's transaction, unless a savepoint was set before it. */
    default boolean failureEndsTransaction() {
        return false;
    }

    /**
     * Locks a row in the caller's transaction, waiting for so long at most, and leaves the connection's own limits as they
     * were. A failure after which others hold the row is one of {@link SqlErrors#isHeldByOthers}.
     *
     * @param lock runs the query, with what the database wants behind {@code FOR UPDATE}
     */
    boolean lockWithin(Connection connection, long millis, RowLocking lock) throws SQLException;

    /** Runs an INSERT of a row that others may have inserted and locked meanwhile: at most a second later it fails. */
    default void withoutWaiting(Connection connection, Insertion insertion) throws SQLException {
        insertion.run();
    }

    /**
     * Refuses servers that hold a lock for themselves alone, while others change the same data.
     *
     * @throws dev.holdfast.StoreRefusedException if this is one
     */
    default void refuseSeveralPrimaries(Connection connection) throws SQLException {}

    /**
     * Asked after a row was held by others: some servers may be set to roll the whole transaction back then.
     *
     * @throws SQLException if that was so
     */
    default void checkNotRolledBack(Connection connection, SQLException held) throws SQLException {}

    /** A time as the database writes it, the same for every reader of one session. */
    String textOf(String time);

    /** The database's time, or the value of a column and some microseconds, if that is later. */
    String laterThan(String column, long micros);

    /**
     * Keeps others from creating the table while we do, where two at a time would fail; a session that ends keeps nobody.
     *
     * @param taken whether it begins or is over
     */
    default void lockCreation(SqlSession session, boolean taken) throws SQLException {}

    /** How an account gets its rights, as comments of the page for its administrators. */
    String grants(String table);

    /** What connections waiting claims need, on the same page. */
    String waitingConnections();

    /** What a session of ours sets, once. No statement may take longer than so many seconds. */
    void prepare(SqlSession session, int seconds) throws SQLException;

    /** Limits the statements of the transaction that begins, on a connection that is closed after it. */
    void limitTransaction(Connection connection, int seconds) throws SQLException;

    /** Commits. Where the limit of the transaction does not cover it, the commit has its own. */
    default void commit(Connection connection, int seconds) throws SQLException {
        connection.commit();
    }

    /**
     * Whether a synchronous standby may lack the change although the server reports success, because another session
     * cancelled the wait.
     */
    default boolean mayBeUnreplicated(Statement answered) throws SQLException {
        return false;
    }

    /** Whether this connection was set to take no writes ({@link Connection#setReadOnly}), and keeps to that. */
    default boolean isReadOnly(SqlSession session) throws SQLException {
        return false;
    }

    /**
     * Refuses connections that lead to no session of their own. Asked of the first, before anything is set.
     *
     * @param more where another connection can be had, to find out what this one leads to
     * @throws dev.holdfast.StoreRefusedException if sessions are shared
     */
    default void refuseSharedSessions(SqlSession session, Connections more) throws SQLException {}

    /**
     * The statements that set back what {@link #prepare} changes, for a connection that goes back to the application's
     * pool. Asked before anything is set.
     */
    List<String> settingBack(SqlSession session) throws SQLException;

    /**
     * Claims with one statement: the row if it could be claimed, else nothing or, where the same statement could return it,
     * the row as it is.
     */
    Optional<Claimed> claim(SqlSession session, RowSql sql, ClaimArguments arguments) throws SQLException;

    /**
     * Writes a state, and notifies another client that it is its turn.
     *
     * @param notified a channel and a claim; empty when no client has to be notified, or not by the database
     * @param durable whether a crash must not undo it
     * @return whether the row was still as the step found it
     */
    boolean write(SqlSession session, RowSql sql, List<?> arguments, List<WaiterEntry> notified, boolean durable)
            throws SQLException;

    /** Releases a lock that nobody waits for, with one statement. */
    boolean release(SqlSession session, RowSql sql, List<?> arguments) throws SQLException;

    /**
     * Renews grants for one lease, in microseconds. The answer is that of the server that changed the rows: what another
     * one reads may be older.
     *
     * @return the claims whose grants are valid, each with whether others wait
     */
    Map<String, Boolean> renew(SqlSession session, RowSql sql, long lease, List<GrantKey> keys) throws SQLException;

    /** How clients in other processes learn that it is their turn. */
    OfferListener offerListener(OfferListener.Listener listener, String channel, Connections connections);

    /** Whether {@link #offerListener} receives what happens in other processes, so that no client has to poll. */
    boolean pushes();

    /** Whether {@link #claim} returns the whole row that it claimed. */
    boolean givesRowsBack();

    /**
     * The query for the schemas, or databases, in which a connection finds the table: first the one that it uses, then
     * others with a table of that name, which another connection may find first.
     *
     * @param schema the one that was named; empty where the connection's own settings decide
     */
    String schemas(Optional<String> schema, String table);

    /** The artifact of its driver. */
    String driver();

    /** The settings of its driver, for connections that we open: above all, how long to wait for a server. */
    Map<String, String> driverProperties(int seconds);

    /** What a user must know, one sentence each. */
    List<String> caveats();

    /** SQL states and error codes, as text, that say: try the same again. */
    Set<String> passing();

    /** Locks a row by a query that ends in {@code FOR UPDATE} and what is given here. */
    @FunctionalInterface
    interface RowLocking {
        boolean lock(String how) throws SQLException;
    }

    /** Inserts a row. */
    @FunctionalInterface
    interface Insertion {
        void run() throws SQLException;
    }

    /**
     * What a claim is answered by one statement.
     *
     * @param granted whether it has the lock
     * @param inserted whether there was no row before
     * @param row the row, as it is now
     */
    record Claimed(boolean granted, boolean inserted, RowSnapshot row) {}

    /**
     * What a claim's statement is filled with.
     *
     * @param exchange whether a hold of the same client is released by it
     */
    record ClaimArguments(Object name, boolean exchange, List<?> update, List<?> insert) {
        /** The statement that changes the row. */
        String of(RowSql sql) {
            return exchange ? sql.exchange : sql.claim;
        }
    }
}
