package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The operations on locks whose rows are in an UNLOGGED table of PostgreSQL: its changes are not in the server's log, and
 * no commit waits for the disk. The table is emptied, all rows together, when a server starts after a crash, from a base
 * backup, or as a promoted replica. Then a grant is forgotten while its holder still believes in it.
 *
 * <pre>
 *   holdfast_lock, unlogged             the locks, and in row '' the marker: which table this is, and the base of its numbers
 *   holdfast_lock_restart, logged       one row
 *     highest_number                    no grant has a greater number
 *     longest_lease                     no grant since the marker was written has a longer one
 *     pause, not_before                 how long nothing is granted after that, and until when
 *
 *   a new connection ── marker there ──────────────────────► claims, once not_before has passed
 *            ▲             │ missing
 *            └─────────────┘ one statement: new marker, not_before = now + longest_lease, longest_lease = 0, a new base
 * </pre>
 *
 * <p><b>One holder.</b> A connection looks for the marker before its first claim. What it saw holds for as long as it lives:
 * the server empties the table only while it starts, when there are no sessions, and a replica lets no session read the
 * table. When one backend crashes, the server ends all sessions and starts again, so no statement and no transaction has
 * rows of both sides, and a client that sleeps between two statements wakes up with a connection that is dead. A connection
 * that finds no marker writes one. All claims are then refused until the longest lease has passed, by the server's clock
 * from the statement that wrote the marker, which is later than the last forgotten grant. A longer lease than any before is written
 * to the logged row, and flushed, before it is claimed or renewed. If the server crashes again during the pause, the next
 * pause is as long at least.
 *
 * <p>Two connections may find the marker missing. Both name the highest number that they read with it; the statement raises
 * that number, so the second one changes nothing. It is one transaction: after a crash, either the raised row is there
 * without a marker, and the pause begins again, or neither is.
 *
 * <p><b>Rising numbers</b> (rule 2). A number is above that of the row, above the base and not below the server's clock. The base
 * is the highest number that the logged row had when the marker was written. A grant above that number is given to its caller
 * only when the row has been raised, by ten minutes more than it needs, and flushed. So every number of an
 * earlier table is below the base, also if the clock was set back.
 *
 * <p><b>Copies.</b> The marker has the identity of the server, the database and the table: rows that a dump or a template
 * has copied elsewhere have no marker there. Not detected are files of a stopped server that are put back, as with logged
 * tables, and rows that somebody deletes or restores by hand.
 *
 * <p><b>Failover.</b> A promoted replica begins with a pause. Not covered are an old primary that still runs, since no commit of
 * a lock waits for a standby, and an asynchronous replica that lacks the last changes of the logged row.
 *
 * <p><b>Clocks.</b> A clock that is set forward ends the pause early, as it ends leases early. One that is set back cannot
 * make it longer than {@code pause} for a connection, which counts it by its own clock.
 *
 * <p>For one thread.
 */
final class UnloggedRows extends LockRows {
    static final String SUFFIX = "_restart";

    /** What a user must know, one sentence each. */
    static final List<String> CAVEATS = List.of(
            "A crash of the server or of one of its backends, and the promotion of a replica, ends all holds; nothing is"
                    + " granted until the longest lease that was in use has passed.",
            "A primary that still runs beside a promoted one goes on granting, also where its standby is synchronous; stop"
                    + " it before the promotion.");

    private static final String COLUMNS = "name, highest_number, longest_lease, pause, not_before";
    private static final long AHEAD = Micros.of(Duration.ofMinutes(10));
    private static final int TRIES = 20;

    private final SqlErrors errors;
    private final LongSupplier stamp;
    private final String find;
    private final String mark;
    private final String raise;

    private @Nullable Marker marker;

    /** What the logged row says at least: what this connection has raised itself, and so has been flushed. */
    private long highestNumber;

    private long longestLease;
    /** The number that the logged row was found with, perhaps not flushed, or on no standby; only for the next marker. */
    private long numberFound;

    /**
     * The marker of this table.
     *
     * @param base all numbers of earlier tables are at most this
     * @param opens when claims are granted, by the client's time
     */
    private record Marker(long base, long opens) {}

    UnloggedRows(ServerDialect dialect, RowSql sql, SqlErrors errors, SqlSession session, LongSupplier stamp) {
        super(dialect, sql, errors, session, stamp);
        this.errors = errors;
        this.stamp = stamp;
        String restart = sql.table + SUFFIX;
        String identity = "(SELECT concat_ws('/', s.system_identifier, d.oid, '" + sql.table
                + "'::regclass::oid) FROM pg_control_system() s, pg_database d WHERE d.datname = current_database())";
        this.find = dialect.readToChange("SELECT r.highest_number, LEAST(r.not_before - " + sql.now
                + ", r.pause), m.grant_number FROM " + restart + " r LEFT JOIN " + sql.table
                + " m ON m.name = '' AND m.host = " + identity + " WHERE r.name = ''");
        String pause = "CASE WHEN longest_lease = 0 OR not_before > " + sql.now
                + " THEN GREATEST(pause, longest_lease) ELSE longest_lease END";
        this.mark = dialect.readToChange("WITH " + PostgresDialect.UPDATED + " AS (UPDATE " + restart
                + " SET highest_number = highest_number + 1, pause = " + pause
                + ", not_before = " + sql.now + " + " + pause
                + ", longest_lease = 0 WHERE name = '' AND highest_number = ? RETURNING highest_number) INSERT INTO "
                + sql.table + " (name, " + RowSql.COLUMNS + ") SELECT '', " + RowSql.LAYOUT
                + ", 1, NULL, highest_number, 0, 0, '', '', " + identity + ", 0, '', '' FROM "
                + PostgresDialect.UPDATED
                + " ON CONFLICT (name) DO UPDATE SET host = EXCLUDED.host, grant_number = EXCLUDED.grant_number");
        this.raise = dialect.readToChange("WITH s AS MATERIALIZED (SELECT CASE current_setting('synchronous_commit')"
                + " WHEN 'off' THEN set_config('synchronous_commit', 'on', true) ELSE '' END AS forced) UPDATE "
                + restart
                + " SET highest_number = GREATEST(highest_number, ?), longest_lease = GREATEST(longest_lease, ?) FROM s"
                + " WHERE name = '' AND s.forced IS NOT NULL RETURNING highest_number, longest_lease");
    }

    /** The statements that make the logged table and its row; they change nothing if these are there. */
    static List<String> createTable(ServerDialect dialect, String table) {
        return List.of(
                "CREATE TABLE IF NOT EXISTS " + table + SUFFIX + """
                 (
                  name text NOT NULL PRIMARY KEY,
                  highest_number bigint NOT NULL,
                  longest_lease bigint NOT NULL,
                  pause bigint NOT NULL,
                  not_before bigint NOT NULL
                )""",
                dialect.insertIfAbsent(table + SUFFIX, COLUMNS, "'', 0, 0, 0, 0"));
    }

    @Override
    Answer claim(Claim claim, @Nullable String released, @Nullable String channel) throws SQLException {
        return issued(super.claim(admitted(claim), released, channel));
    }

    @Override
    Answer poll(Claim claim, String channel) throws SQLException {
        return issued(super.poll(admitted(claim), channel));
    }

    @Override
    Map<String, Boolean> renew(List<Grant> grants, Duration lease) throws SQLException {
        promise(lease);
        return super.renew(grants, lease);
    }

    @Override
    Map<String, Boolean> renewShared(String name, List<Grant> grants) throws SQLException {
        for (Grant grant : grants) {
            promise(grant.lease());
        }
        return super.renewShared(name, grants);
    }

    /** The claim, with a number above the base; refused during the pause. */
    private Claim admitted(Claim claim) throws SQLException {
        Marker table = marker();
        long left = table.opens - stamp.getAsLong();
        if (left > 0) {
            throw new StoreUnavailableException(
                    errors.cannot("claim", claim.name())
                            + ": a crash or a promotion of the server has emptied its table"
                            + " of locks, and a former holder may still believe in its lease; try again in "
                            + (TimeUnit.NANOSECONDS.toMillis(left) + 1) + " ms",
                    null);
        }
        promise(claim.lease());
        return new Claim(
                claim.id(),
                claim.name(),
                claim.mode(),
                claim.lease(),
                claim.waits(),
                Math.max(claim.floor(), table.base),
                claim.holder());
    }

    /** Flushes a lease that is longer than all before it. */
    private void promise(Duration lease) throws SQLException {
        marker();
        long micros = Micros.of(lease);
        if (micros > longestLease) {
            raise(0, micros);
        }
    }

    /** Flushes a number that is greater than all before it. */
    private Answer issued(Answer answer) throws SQLException {
        if (answer.grant().isPresent()) {
            long number = answer.grant().get().number();
            if (number > highestNumber) {
                raise(Math.addExact(number, AHEAD), 0);
            }
        }
        return answer;
    }

    private void raise(long number, long lease) throws SQLException {
        boolean raised =
                session().all(raise, this::note, List.of(number, lease)).isEmpty();
        if (raised) {
            throw rowIsMissing();
        }
    }

    private boolean note(ResultSet row) throws SQLException {
        highestNumber = row.getLong(1);
        longestLease = row.getLong(2);
        return true;
    }

    private Marker marker() throws SQLException {
        Marker known = marker;
        for (int tries = 0; known == null; tries++) {
            known = find();
            if (known == null) {
                if (tries == TRIES) {
                    throw new SQLException("the marker in " + errors.table() + " is removed again and again", "40001");
                }
                session().update(mark, List.of(numberFound));
            }
        }
        marker = known;
        return known;
    }

    private @Nullable Marker find() throws SQLException {
        List<Marker> found = session().all(find, this::read, List.of());
        if (found.isEmpty()) {
            throw rowIsMissing();
        }
        Marker table = found.get(0);
        return table.base == 0 ? null : table;
    }

    /** Base 0 where the marker is missing. */
    private Marker read(ResultSet row) throws SQLException {
        numberFound = row.getLong(1);
        long pause = Math.max(0, row.getLong(2));
        return new Marker(row.getLong(3), stamp.getAsLong() + TimeUnit.MICROSECONDS.toNanos(pause));
    }

    private StoreRefusedException rowIsMissing() {
        return new StoreRefusedException(errors.cannot("use", "") + ": table " + errors.table() + SUFFIX
                + " has lost its row; while no client runs, run the SQL printed by '" + errors.script() + "'");
    }
}
