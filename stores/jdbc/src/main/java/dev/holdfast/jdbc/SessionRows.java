package dev.holdfast.jdbc;

import dev.holdfast.LockStatus;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.PagedListing;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The table of session locks, and the server's locks, as one session sees them. For one thread, but for {@link #cancelStatement}. */
final class SessionRows {
    private static final int TRIES = 5;
    /** Behind the columns of a row. */
    private static final int WRITABLE = 17;

    private static final int LOCKED = 18;
    /** A number that another name has, on PostgreSQL, MariaDB and MySQL. */
    private static final Set<String> DUPLICATE = Set.of("23505", "1062");

    private final ServerDialect dialect;
    private final SessionDialect sessions;
    private final SqlErrors errors;
    private final SqlSession session;
    private final SessionSql sql;
    private final int answerMillis;
    private final int mostLocks;
    private final IntSupplier anyNumber;
    /** The statement that waits, to be cancelled. */
    private volatile @Nullable Statement waiting;

    private @Nullable Unkept unkept;

    /**
     * A lock of the server that this session may have, and that has no grant yet.
     *
     * @param name of the row; empty where the number is known
     * @param number of the lock; 0 where it is not known
     */
    private record Unkept(String name, int number) {}

    /**
     * On one session.
     *
     * @param scope of the table, as the server says it
     * @param answerMillis how long an answer may take, unless the statement waits in the server's queue
     * @param mostLocks how many grants one client may have
     * @param anyNumber a number that no lock has yet; the table's index finds out where one has it all the same
     */
    SessionRows(
            ServerDialect dialect,
            SessionDialect sessions,
            SqlErrors errors,
            SqlSession session,
            String scope,
            int answerMillis,
            int mostLocks,
            IntSupplier anyNumber) {
        this.dialect = dialect;
        this.sessions = sessions;
        this.errors = errors;
        this.session = session;
        this.sql = new SessionSql(dialect, sessions, errors.table(), scope);
        this.answerMillis = answerMillis;
        this.mostLocks = mostLocks;
        this.anyNumber = anyNumber;
    }

    SqlSession session() {
        return session;
    }

    /** Before one more lock is acquired. */
    void refuseMoreThan(int grants, String name) {
        if (grants >= mostLocks) {
            throw new StoreRefusedException(errors.cannot("claim", name) + ": this client holds " + grants
                    + " locks, as many as it may of the server's table of locks, which all its users share; raise"
                    + " max_locks_per_transaction on the server, or leave mode=session out of the URL");
        }
    }

    /**
     * A name's row, after trying for its lock.
     *
     * @param row as it is
     * @param locked whether this session has the server's lock now
     */
    record Tried(SessionRow row, boolean locked) {}

    /** Tries for the lock of a name, whose row is made if it is new. */
    Tried tryLock(String name) throws SQLException {
        for (int tries = 1; ; tries++) {
            unkept = new Unkept(name, 0);
            List<Tried> found = session.all(
                    sql.tryLock, row -> new Tried(read(row), row.getBoolean(LOCKED)), List.of(dialect.name(name)));
            if (!found.isEmpty()) {
                Tried tried = found.get(0);
                unkept = tried.locked() ? new Unkept("", tried.row().number()) : null;
                return tried;
            }
            if (tries == TRIES) {
                throw new SQLException("the row of '" + name + "' cannot be inserted into " + errors.table(), "40001");
            }
            insert(name);
        }
    }

    /** Nothing is inserted where another name has the number already. The next try draws another. */
    private void insert(String name) throws SQLException {
        try {
            session.update(sql.insert, List.of(dialect.name(name), anyNumber.getAsInt()));
        } catch (SQLException e) {
            if (!SqlErrors.has(e, DUPLICATE)) {
                throw e;
            }
        }
    }

    /** Among two billion numbers, so that the first one is nearly always free. */
    static int random() {
        return ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
    }

    /**
     * Waits for a lock in the order of arrival, until it is cancelled; its statements can be {@linkplain #cancelStatement
     * cancelled}. Whether the session has the lock.
     */
    boolean awaitLock(int number, BooleanSupplier cancelled) throws SQLException {
        TableOpener.limitAnswers(session.connection(), 0);
        unkept = new Unkept("", number);
        try (Statement statement = session.connection().createStatement()) {
            waiting = statement;
            return sessions.await(new SessionWait(statement, cancelled), sql.scope, number);
        } finally {
            waiting = null;
            if (!session.connection().isClosed()) {
                TableOpener.limitAnswers(session.connection(), answerMillis);
            }
        }
    }

    /** Called off on another thread; may come too late, and then it may meet the statement behind it. */
    void cancelStatement() throws SQLException {
        Statement statement = waiting;
        if (statement != null) {
            statement.cancel();
        }
    }

    void unlock(int number) throws SQLException {
        session.all(sql.unlock, row -> true, List.of(number));
        unkept = null;
    }

    /** The lock that was acquired last has its grant. */
    void kept() {
        unkept = null;
    }

    /**
     * Gives back what was acquired, or may have been, without becoming a grant.
     *
     * @param all whether no lock of this session has a grant; servers log the unlocking of what is not locked
     */
    void unlockUnkept(boolean all) throws SQLException {
        Unkept left = unkept;
        if (left == null) {
            return;
        }
        if (all) {
            unlockAll();
        } else if (left.number() != 0) {
            unlock(left.number());
        } else {
            session.all(sql.unlockNamed, row -> true, List.of(dialect.name(left.name())));
            unkept = null;
        }
    }

    /** Whether the server answers, and takes writes. */
    boolean answers() throws SQLException {
        return session.only(sql.answers, row -> writable(row, 1));
    }

    void unlockAll() throws SQLException {
        session.only(sql.unlockAll, row -> true);
        unkept = null;
    }

    /**
     * A server that takes no writes any more was the primary before: its locks say nothing about those of the new one.
     *
     * @throws SQLException as for a write there
     */
    private static boolean writable(ResultSet row, int column) throws SQLException {
        if (!row.getBoolean(column)) {
            throw new SQLException("the server takes no writes any more", "25006");
        }
        return true;
    }

    /** A row, from a server whose locks count. */
    private SessionRow read(ResultSet row) throws SQLException {
        writable(row, WRITABLE);
        return checked(SessionRow.read(dialect, row));
    }

    Optional<SessionRow> read(String name) throws SQLException {
        return session
                .all(sql.read, row -> checked(SessionRow.read(dialect, row)), List.of(dialect.name(name)))
                .stream()
                .findFirst();
    }

    /** The row of a name whose lock this session has, without the question whether others wait. */
    SessionRow readLocked(String name) throws SQLException {
        return session.all(sql.readLocked, this::read, List.of(dialect.name(name))).stream()
                .findFirst()
                .orElseThrow(() -> new SQLException("the row of '" + name + "' was removed", "40001"));
    }

    /**
     * Writes a new holder into the row, if it is still as it was read.
     *
     * @return the number of the grant; 0 if the row has changed
     */
    long take(SessionRow row, Claim claim, Duration lease) throws SQLException {
        long number = Math.max(Math.max(row.grantNumber(), claim.floor()) + 1, row.now());
        List<Object> arguments = new ArrayList<>(List.of(claim.id().value(), number, Micros.of(lease)));
        arguments.addAll(RowParameters.texts(session, claim.holder()));
        arguments.addAll(List.of(dialect.name(row.name()), row.version()));
        return session.update(sql.take, arguments) > 0 ? number : 0;
    }

    /**
     * Notes that the session of the holder ended, and until when its client may believe otherwise.
     *
     * @return whether the row was still as it was read
     */
    boolean markEnded(SessionRow row) throws SQLException {
        return change(sql.markEnded, List.of(dialect.name(row.name()), row.version()));
    }

    boolean release(String name, ClaimId id) throws SQLException {
        return session.update(sql.release, List.of(dialect.name(name), id.value())) > 0;
    }

    /** At once, the name gets another lock of the server: that of the broken grant may be held for as long as it likes. */
    boolean breakGrant(String name, long grantNumber, boolean now) throws SQLException {
        Optional<SessionRow> found = read(name)
                .filter(each -> each.grantNumber() == grantNumber)
                .filter(each -> each.status().isHeld());
        if (found.isEmpty()) {
            return false;
        }
        SessionRow row = found.get();
        if (!now) {
            return SessionRow.ENDED.equals(row.claim()) || markEnded(row) || breakGrant(name, grantNumber, false);
        }
        List<Object> arguments = List.of(anotherThan(row.number()), dialect.name(name), row.version());
        return change(sql.breakNow, arguments) || breakGrant(name, grantNumber, true); // changed meanwhile: try again
    }

    private int anotherThan(int number) {
        int drawn = anyNumber.getAsInt();
        return drawn == number ? anotherThan(number) : drawn;
    }

    /** Changes nothing where the row has changed meanwhile, or another name has its new number. */
    private boolean change(String statement, List<Object> arguments) throws SQLException {
        try {
            return session.update(statement, arguments) > 0;
        } catch (SQLException e) {
            if (SqlErrors.has(e, DUPLICATE)) {
                return false;
            }
            throw e;
        }
    }

    /**
     * Of these names, whose claims are in the rows.
     *
     * @param andWaiting whether it is asked for each if others wait for it
     * @throws SQLException also if the server takes no writes any more
     */
    Map<String, Boolean> valid(List<String> names, boolean andWaiting) throws SQLException {
        Map<String, Boolean> found = new HashMap<>();
        session.all(
                sql.valid(names.size(), andWaiting),
                row -> writable(row, 3) && found.put(row.getString(1), row.getInt(2) > 0) == null,
                names.stream().map(dialect::name).toList());
        return found;
    }

    PagedListing.Page<LockStatus> list(String prefix, String after) throws SQLException {
        List<SessionRow> rows = session.all(
                sql.list,
                row -> SessionRow.read(dialect, row),
                List.of(dialect.name(prefix), dialect.name(after), dialect.behind(prefix)));
        return new PagedListing.Page<>(
                rows.stream()
                        .filter(each -> each.name().startsWith(prefix))
                        .map(SessionRow::status)
                        .filter(each -> each.isHeld() || each.waiting() > 0)
                        .toList(),
                rows.size() < PagedListing.PAGE ? "" : rows.get(rows.size() - 1).name());
    }

    private SessionRow checked(SessionRow row) {
        if (row.layout() > SessionRow.LAYOUT) {
            throw new StoreRefusedException(
                    errors.cannot("use", row.name()) + ": its row in " + errors.table() + " has layout "
                            + row.layout() + ", and this version of Holdfast knows layout " + SessionRow.LAYOUT
                            + " at most; use the newer version");
        }
        return row;
    }

    boolean wasCancelled(SQLException e) {
        return SqlErrors.has(e, Set.copyOf(sessions.cancelled()));
    }
}
