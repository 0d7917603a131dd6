package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.IntSupplier;

/** Opens sessions for locks that end with them, and makes the table where it is missing. Thread-safe. */
final class SessionOpener {
    static final String SUFFIX = "_session";
    static final Duration ANSWER = Duration.ofMillis(TableOpener.ANSWER_MILLIS);

    /** How long a store that closes waits for the requests under way. */
    static final Duration END = Duration.ofSeconds(2);

    private static final Duration SHORTEST = Duration.ofMillis(500);
    private static final int TRIES = 3;
    /** The server ends a silent session later than its client stops believing in it. */
    private static final int IDLE_SESSIONS = 3;

    /** A renewal comes behind one blocked claim at most. PostgreSQL logs what is blocked for a second. */
    private static final Duration LONGEST_BLOCKED = Duration.ofMillis(900);

    private static final int BLOCKED_PARTS = 5;
    private static final long SHORTEST_LIMIT_MILLIS = 500;

    private static final Duration LONGEST_BEAT = Duration.ofSeconds(1);

    private final ServerDialect dialect;
    private final SessionDialect sessions;
    private final JdbcOptions options;
    private final Connections connections;
    private volatile SqlErrors errors;
    private final TimeSource time;
    private final BiFunction<String, Runnable, Thread> threads;
    private final Duration session;
    /** Whether the search for the table has been made. */
    private final AtomicBoolean known = new AtomicBoolean();

    SessionOpener(
            ServerDialect dialect,
            JdbcOptions options,
            Connections connections,
            String description,
            TimeSource time,
            Duration session) {
        this(dialect, options, connections, description, time, DaemonThreads::daemon, session);
    }

    /** With threads of its caller, such as one that does not start. */
    SessionOpener(
            ServerDialect dialect,
            JdbcOptions options,
            Connections connections,
            String description,
            TimeSource time,
            BiFunction<String, Runnable, Thread> threads,
            Duration session) {
        if (session.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException(
                    "a session of " + session.toMillis() + " ms is too short; at least " + SHORTEST.toMillis() + " ms");
        }
        this.dialect = dialect;
        this.sessions = dialect.sessions()
                .orElseThrow(() -> new StoreRefusedException(
                        "cannot keep locks of sessions on " + description + ": " + dialect.title()
                                + " has no locks that end with a session; leave mode=session out of the URL"));
        this.options = options;
        this.connections = connections;
        this.errors = new SqlErrors(dialect, description, dialect.quoted(options.qualifiedTable()) + SUFFIX);
        this.time = time;
        this.threads = threads;
        this.session = session;
    }

    SqlErrors errors() {
        return errors;
    }

    SessionDialect sessions() {
        return sessions;
    }

    TimeSource time() {
        return time;
    }

    /** A thread that is not started yet. */
    Thread thread(String name, Runnable work) {
        return threads.apply(name, work);
    }

    /**
     * Starts a thread.
     *
     * @throws StoreRefusedException if there is none to be had
     */
    void start(Thread thread) {
        try {
            thread.start();
        } catch (Error e) {
            throw errors.noThread(e);
        }
    }

    /** How long a client believes in a grant after the last answer of its session. */
    Duration session() {
        return session;
    }

    /** How often, in nanoseconds, a session with grants asks for them, at least. */
    long beat() {
        return Math.min(LONGEST_BEAT.toNanos(), session.toNanos() / 3);
    }

    /**
     * An answer that takes so long is given up with its connection: nobody waits for it any more, and the grants of its
     * session have ended by their deadlines. Another connection may get through.
     */
    private int silenceMillis() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(session.toMillis(), ANSWER.toMillis()));
    }

    /**
     * After so long, a statement is cancelled: renewals wait behind it. It is longer than a wait for a row, and leaves time
     * for a second try of a renewal.
     */
    private long limitMillis() {
        return Math.max(SHORTEST_LIMIT_MILLIS, Math.min(2 * session.toMillis() / BLOCKED_PARTS, 3_000));
    }

    ClientClosedException closedException() {
        return new ClientClosedException("the client of " + errors.store() + " is closed; connect again");
    }

    /** One more session. */
    SessionRows open() throws SQLException {
        return open(SessionRows::random);
    }

    /** One that gives new names these numbers, if they are free. */
    SessionRows open(IntSupplier anyNumber) throws SQLException {
        Connection connection = connections.open();
        SqlSession opened =
                new SqlSession(connection, new StatementLimit(time, Duration.ofMillis(limitMillis()), dialect));
        boolean ready = false;
        try {
            opened.loan().begin();
            errors.refuseReadOnly(opened);
            dialect.refuseSharedSessions(opened, connections);
            dialect.refuseSeveralPrimaries(connection);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            sessions.prepare(
                    opened,
                    Math.max(1, session.multipliedBy(IDLE_SESSIONS).toSeconds()),
                    Math.min(LONGEST_BLOCKED.toMillis(), session.toMillis() / BLOCKED_PARTS));
            int mostLocks = sessions.mostLocks(opened);
            String scope = scope(opened);
            if (known.compareAndSet(false, true)) {
                errors = errors.found(opened, options);
            }
            TableOpener.limitAnswers(connection, silenceMillis());
            ready = true;
            return new SessionRows(dialect, sessions, errors, opened, scope, silenceMillis(), mostLocks, anyNumber);
        } finally {
            if (!ready) {
                opened.close();
            }
        }
    }

    private String scope(SqlSession opened) throws SQLException {
        String probe = "SELECT count(*) FROM " + errors.table() + " WHERE name = ''";
        for (int tries = 1; ; tries++) {
            try {
                opened.only(probe, row -> row.getLong(1));
                return opened.only(sessions.scope(errors.table()), row -> row.getString(1));
            } catch (SQLException e) {
                if (tries == TRIES || !errors.mayBeMissing(e)) {
                    throw e;
                }
                create(opened);
            }
        }
    }

    /** What another has made meanwhile is found by the next try. */
    private void create(SqlSession opened) throws SQLException {
        dialect.requireSchema(opened, options);
        if (!options.createTable()) {
            throw new StoreRefusedException("cannot use " + errors.store() + ": there is no table " + errors.table()
                    + ", and it may not be created (createTable is off); run the SQL printed by 'holdfast schema "
                    + dialect.names().get(0) + "'");
        }
        try {
            try (Statement statement = opened.connection().createStatement()) {
                new StatementLimit(time, TableOpener.LIMIT, dialect)
                        .run(statement, () -> statement.execute(sessions.createTable(errors.table())));
            }
        } catch (SQLException e) {
            if (!errors.mayBeMissing(e)) {
                throw e;
            }
        }
    }

    /** The same answer, which fails after a time. */
    <T> CompletableFuture<T> limited(Duration within, String what, String name, CompletableFuture<T> answer) {
        TimeSource.Scheduled limit = time.schedule(
                () -> answer.completeExceptionally(new StoreUnavailableException(
                        errors.cannot(what, name) + ": the server has not answered within " + within.toSeconds()
                                + " s; check that it is running")),
                within);
        answer.whenComplete((done, failure) -> limit.cancel());
        return answer;
    }

    /** The answer to the caller. */
    HoldfastException explained(SessionRequests.Request<?> request, Throwable e) {
        if (e instanceof HoldfastException known) {
            return known;
        }
        return e instanceof SQLException failure
                ? errors.explain(request.what(), request.name(), failure)
                : new StoreUnavailableException(errors.cannot(request.what(), request.name()) + ": " + e, e);
    }

    /** Why a request failed. */
    static HoldfastException unwrapped(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof HoldfastException known
                ? known
                : new StoreUnavailableException("the request failed: " + cause, cause);
    }
}
