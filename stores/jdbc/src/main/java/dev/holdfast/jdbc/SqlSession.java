package dev.holdfast.jdbc;

import dev.holdfast.spi.support.SafeLog;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One connection to a server, with its statements kept prepared. For one thread. */
final class SqlSession implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.holdfast.jdbc");
    private static final int MOST_PREPARED = 64;

    private final Connection connection;
    private final LentConnection loan;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private final @Nullable StatementLimit limit;
    private @Nullable Long until;
    private @Nullable CharsetEncoder texts;

    /** The request had no time left for its next statement, which was not sent. */
    static final class OutOfTimeException extends SQLTimeoutException {
        private static final long serialVersionUID = 1L;

        OutOfTimeException() {
            super("no time is left for another statement", "HYT00");
        }
    }

    SqlSession(Connection connection) {
        this(connection, null);
    }

    /** With a time limit for each statement, which is then cancelled on the server. */
    SqlSession(Connection connection, @Nullable StatementLimit limit) {
        this.connection = connection;
        this.limit = limit;
        this.loan = new LentConnection(connection);
    }

    Connection connection() {
        return connection;
    }

    /**
     * Begins a request, or ends it. Each statement has a time limit of its own, and a request may need several: after its
     * time it sends none any more, and fails with {@link OutOfTimeException}.
     *
     * @param nanos the end of its time, as {@link System#nanoTime()} counts; null for no limit
     */
    void limit(@Nullable Long nanos) {
        until = nanos;
    }

    /** The database has no characters but these. */
    void limitTexts(CharsetEncoder known) {
        texts = known;
    }

    /** A text for people, with a question mark for each character that the database cannot keep. */
    String kept(String text) {
        CharsetEncoder known = texts;
        if (known == null || known.canEncode(text)) {
            return text;
        }
        return text.codePoints()
                .mapToObj(Character::toString)
                .map(each -> known.canEncode(each) ? each : "?")
                .collect(Collectors.joining());
    }

    /** What was changed of the connection. */
    LentConnection loan() {
        return loan;
    }

    /** All rows of a query that is asked once, without keeping it prepared. */
    <T> List<T> each(String sql, Row<T> row) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<T> all = new ArrayList<>();
            while (rows.next()) {
                all.add(row.read(rows));
            }
            return all;
        }
    }

    /** The first row of a query that is asked once, without keeping it prepared. */
    <T> T only(String sql, Row<T> row) throws SQLException {
        return only(connection, sql, row);
    }

    /** The same on any connection. */
    static <T> T only(Connection connection, String sql, Row<T> row) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            if (!rows.next()) {
                throw new SQLException("no answer to: " + sql);
            }
            return row.read(rows);
        }
    }

    /** All rows of a query, or of a statement that gives rows back. */
    <T> List<T> all(String sql, Row<T> row, List<?> arguments) throws SQLException {
        PreparedStatement statement = bind(sql, arguments, Statement.NO_GENERATED_KEYS);
        try (ResultSet rows = limited(statement, statement::executeQuery)) {
            List<T> all = new ArrayList<>(1);
            while (rows.next()) {
                all.add(row.read(rows));
            }
            return all;
        }
    }

    /** Runs a statement without rows; how many it changed. */
    int update(String sql, List<?> arguments) throws SQLException {
        PreparedStatement statement = bind(sql, arguments, Statement.NO_GENERATED_KEYS);
        return limited(statement, statement::executeUpdate);
    }

    /** Runs a statement and gives back the key that it generated; 0 if it changed nothing. */
    long updateForKey(String sql, List<?> arguments) throws SQLException {
        PreparedStatement statement = bind(sql, arguments, Statement.RETURN_GENERATED_KEYS);
        if (limited(statement, statement::executeUpdate) == 0) {
            return 0;
        }
        try (ResultSet keys = statement.getGeneratedKeys()) {
            return keys.next() ? keys.getLong(1) : 0;
        }
    }

    private <T> T limited(Statement statement, StatementLimit.Call<T> call) throws SQLException {
        return limit == null ? call.run() : limit.run(statement, call);
    }

    /** Runs a statement once, without keeping it. */
    void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            limited(statement, () -> statement.execute(sql));
        }
    }

    /** The same on any connection. */
    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** A failure of the application's log ends no thread. */
    static void log(System.Logger.Level level, String message, Throwable failure) {
        SafeLog.log(LOG, level, message, failure);
    }

    /** One line for people, in the same way. */
    static void warn(String message) {
        try {
            LOG.log(System.Logger.Level.WARNING, message);
        } catch (Throwable logFailed) {
            // as there
        }
    }

    boolean isClosed() {
        try {
            return connection.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    /** Ends the connection, so that no pool lends it again. Throws nothing. */
    void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (Throwable e) { // of an older pool, which lacks the method
            log(System.Logger.Level.DEBUG, "ending a connection failed", e);
        }
    }

    /** Gives the connection back. Throws nothing. */
    @Override
    public void close() {
        try (connection) {
            forgetStatements();
        } catch (Throwable e) { // an Error of a driver ends no thread of ours
            log(System.Logger.Level.DEBUG, "closing a connection failed", e);
        }
    }

    private void forgetStatements() throws SQLException {
        for (PreparedStatement statement : prepared.values()) {
            statement.close();
        }
        prepared.clear();
    }

    private PreparedStatement bind(String sql, List<?> arguments, int keys) throws SQLException {
        checkTime();
        PreparedStatement statement = prepared.get(sql);
        if (statement == null) {
            if (prepared.size() >= MOST_PREPARED) {
                forgetStatements();
            }
            statement = keys == Statement.RETURN_GENERATED_KEYS
                    ? connection.prepareStatement(sql, keys)
                    : connection.prepareStatement(sql);
            prepared.put(sql, statement);
            checkTime(); // some servers are asked to prepare it: an answer to wait for
        }
        for (int i = 0; i < arguments.size(); i++) {
            bind(statement, i + 1, arguments.get(i));
        }
        return statement;
    }

    private void checkTime() throws OutOfTimeException {
        if (until != null && System.nanoTime() - until > 0) {
            throw new OutOfTimeException();
        }
    }

    static void bind(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
        if (value instanceof Number number) {
            statement.setLong(index, number.longValue());
        } else if (value instanceof byte[] bytes) {
            statement.setBytes(index, bytes);
        } else if (value == null) {
            statement.setNull(index, Types.VARCHAR);
        } else {
            statement.setString(index, value.toString());
        }
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Reads one row. */
    @FunctionalInterface
    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }
}
