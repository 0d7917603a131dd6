package dev.holdfast.jdbc;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A claim's place in the queue for a lock of PostgreSQL. A statement that waits keeps a snapshot, for which vacuum and
 * {@code CREATE INDEX CONCURRENTLY} wait in turn. So no statement waits for long, and the place does not depend on it: it
 * is a lock of its own, the ticket, which ends with the session as the others do.
 *
 * <pre>
 *   ticket 3      ticket 4      ticket 5      each held by its own session: key (scope # number, ticket)
 *      │      ◄──────┘      ◄──────┘          waits for the ticket before it, if there is one
 *      ▼
 *   the lock                                  the first waits for the lock itself, and returns its ticket when it has it
 * </pre>
 *
 * <p>Between two of its statements, the first waiter is not in the server's own queue, and the lock may become free. So each
 * waiter holds the gate shared, key (scope # number, 0), and a try acquires the gate alone first. It releases the gate
 * before it tries for the lock: of two tries that meet at the gate, the first one then gets a lock that is free.
 *
 * <p>A wait is as long as {@code lock_timeout}, which is less than {@code deadlock_timeout}: it leaves no line in the
 * server's log, and neither does its end, which is caught on the server. For one wait.
 */
final class PostgresQueue {
    /** All advisory locks with two keys in this database that a session has to itself. */
    static final String HELD = "pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.mode ="
            + " 'ExclusiveLock' AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())";

    /** The user may not use PL/pgSQL, or it was dropped: the server then logs the end of each wait. */
    private static final Set<String> NO_LANGUAGE = Set.of("42501", "42704");

    /** The second key of the gate; tickets begin above it. */
    static final int GATE = 0;

    private static final long LONGEST_PAUSE_NANOS = 5_000_000;

    private static final Set<String> TIMED_OUT = Set.of("55P03");

    private final SessionWait wait;
    private final String scope;
    private final String number;
    private final String queue;
    private boolean quiet = true;

    PostgresQueue(SessionWait wait, String scope, int number) {
        this.wait = wait;
        this.scope = scope;
        this.number = Integer.toString(number);
        this.queue = of(scope, this.number);
    }

    /** The first key of the tickets for a lock. */
    static String of(String scope, String number) {
        return "((" + scope + ")::int4 # (" + number + ")::int4)";
    }

    /** Whether the session has the lock now, and no ticket any more; false if the wait was cancelled. */
    boolean await() throws SQLException {
        String ticket = null;
        String gate = Integer.toString(GATE);
        boolean closed = false;
        while (!wait.isCancelled()) {
            if (!closed) {
                closed = has("pg_advisory_lock_shared", queue, gate);
                continue;
            }
            if (ticket == null) {
                ticket = draw();
                continue;
            }
            long before = wait.ask(tickets("max(l.objid::bigint)") + " AND l.objid::bigint < " + ticket);
            if (before > 0) {
                if (has("pg_advisory_lock_shared", queue, Long.toString(before))) {
                    unlock(unlocking("pg_advisory_unlock_shared", Long.toString(before)));
                }
            } else if (has("pg_advisory_lock", scope, number)) {
                unlock(unlocking("pg_advisory_unlock", ticket) + " + " + unlocking("pg_advisory_unlock_shared", gate));
                return true;
            }
        }
        return false;
    }

    /** The ticket behind all others; null if another session has drawn it at the same time. */
    private @Nullable String draw() throws SQLException {
        String next = "SELECT t FROM (" + tickets("coalesce(max(l.objid::bigint), 0) + 1 AS t") + ") last WHERE"
                + " pg_try_advisory_lock(" + queue + ", t::int4)";
        long drawn = wait.ask(next);
        if (drawn > 0) {
            return Long.toString(drawn);
        }
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE_NANOS));
        return null;
    }

    private String tickets(String what) {
        return PostgresDialect.PRIMARY + "SELECT " + what + " FROM " + HELD + " AND l.classid = " + queue + "::oid";
    }

    private void unlock(String calls) throws SQLException {
        wait.ask(PostgresDialect.PRIMARY + "SELECT " + calls);
    }

    private String unlocking(String function, String ticket) {
        return function + "(" + queue + ", " + ticket + ")::int";
    }

    /**
     * Calls a function that waits for a lock; whether the session has it now. A wait whose time is over may have been granted
     * the lock at that moment: the function then fails, and the session has the lock all the same.
     */
    private boolean has(String function, String first, String second) throws SQLException {
        String call = function + "((" + first + ")::int4, (" + second + ")::int4)";
        String mine =
                "SELECT count(*) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND"
                        + " l.pid = pg_backend_pid() AND l.classid = (" + first + ")::int4::oid AND l.objid = ("
                        + second
                        + ")::int4::oid";
        try {
            return wait.ask(
                            quiet
                                    ? quietly(call, mine)
                                    : PostgresDialect.PRIMARY + "SELECT count(*) FROM (SELECT " + call + ") called")
                    == 1;
        } catch (SQLException e) {
            if (quiet && SqlErrors.has(e, NO_LANGUAGE)) {
                quiet = false;
                return false;
            }
            if (!SqlErrors.has(e, TIMED_OUT)) {
                throw e;
            }
            return wait.ask(PostgresDialect.PRIMARY + mine) == 1;
        }
    }

    private static String quietly(String call, String mine) {
        return "DO $$ BEGIN PERFORM set_config('holdfast.done', '1', false); BEGIN PERFORM " + call
                + "; EXCEPTION WHEN lock_not_available THEN PERFORM set_config('holdfast.done', (" + mine
                + ")::text, false); END; END $$;" + PostgresDialect.PRIMARY
                + "SELECT current_setting('holdfast.done')::int";
    }
}
