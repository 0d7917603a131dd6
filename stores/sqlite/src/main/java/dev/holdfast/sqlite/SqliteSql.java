package dev.holdfast.sqlite;

import dev.holdfast.spi.support.PagedListing;
import java.util.StringJoiner;

/**
 * The statements for SQLite. Times are microseconds of the machine's monotonic clock ({@link BootClock}), bound as a
 * parameter when the statement is tried.
 *
 * <pre>
 *   holdfast_meta    one row: layout, boot id, floor (the highest grant number, or revision of a record, that was ever purged), when a
 *                    removal of idle rows last reached the end
 *   holdfast_lock    one row per name: its holder (claim_id, null when free), grant number, expires_at (when free:
 *                    since when), served: every place in the queue up to this one has had its turn
 *   holdfast_claim   one row per waiting claim: its place in the queue of the name (arrival), and until when the
 *                    place counts unless it is kept alive; and one per reader or holder of permits
 * </pre>
 *
 * <p>A claim is granted if the lock is already its own, or if the lock is free or expired and it is the claim's turn: no
 * live claim is before it, or the lock has been free so long that those before it have let their turns pass, {@value
 * #TURN_MICROS} µs for each of them, five turns at most. The statement that grants a place raises {@code served} to it: the
 * claim leaves the queue in the same step, and with it those it passed.
 */
final class SqliteSql {
    /** The layout this version writes, and the newest it understands. */
    static final long LAYOUT = 1;

    /** How long a free lock is reserved for the claim whose turn it is. */
    static final long TURN_MICROS = 200_000;

    static final String CREATE_META = """
            CREATE TABLE holdfast_meta (
              one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
              layout INTEGER NOT NULL,
              boot_id TEXT NOT NULL,
              booted_at INTEGER NOT NULL,
              floor INTEGER NOT NULL,
              purged_at INTEGER NOT NULL
            ) STRICT""";

    static final String CREATE_LOCK = """
            CREATE TABLE holdfast_lock (
              name TEXT NOT NULL PRIMARY KEY,
              layout INTEGER NOT NULL,
              claim_id TEXT,
              number INTEGER NOT NULL,
              acquired_at INTEGER NOT NULL,
              expires_at INTEGER NOT NULL,
              served INTEGER NOT NULL,
              host TEXT NOT NULL,
              pid INTEGER NOT NULL,
              thread TEXT NOT NULL,
              label TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""";

    static final String CREATE_CLAIM = """
            CREATE TABLE holdfast_claim (
              name TEXT NOT NULL,
              arrival INTEGER NOT NULL,
              claim_id TEXT NOT NULL,
              mode TEXT NOT NULL CHECK (mode IN ('exclusive', 'shared', 'permits')),
              permits INTEGER NOT NULL,
              of_permits INTEGER NOT NULL,
              state TEXT NOT NULL CHECK (state IN ('waiting', 'holding')),
              number INTEGER NOT NULL,
              since INTEGER NOT NULL,
              expires_at INTEGER NOT NULL,
              host TEXT NOT NULL,
              pid INTEGER NOT NULL,
              thread TEXT NOT NULL,
              label TEXT NOT NULL,
              PRIMARY KEY (name, arrival)
            ) STRICT, WITHOUT ROWID""";

    static final String CREATE_META_ROW = "INSERT INTO holdfast_meta VALUES (1, ?1, ?2, ?3, 0, ?3)";

    /** A restart of the machine ended all holders and restarted its clock; numbers go on. */
    static final String FREE_ALL = "UPDATE holdfast_lock AS l SET claim_id = NULL, acquired_at = 0, expires_at = 0,"
            + " served = 0, number = max(l.number, " + highestShared("l") + ")";

    static final String EMPTY_QUEUES = "DELETE FROM holdfast_claim";
    static final String NEW_BOOT = "UPDATE holdfast_meta SET boot_id = ?1, booted_at = ?2, purged_at = 0";
    static final String META = "SELECT layout, boot_id, booted_at FROM holdfast_meta";
    static final String TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'";

    /** The claims that wait for the lock l at ?3 (now) and count. */
    private static final String WAITING = waiting("l", "?3");

    /** When the last shared holder of the lock l ends, or ended; 0 if none is known. */
    static final String SHARED_UNTIL = "coalesce((SELECT max(h.expires_at) FROM holdfast_claim h WHERE h.name = l.name"
            + " AND h.state = 'holding'), 0)";

    /** The lock l has no exclusive holder at ?3 (now). */
    static final String NO_EXCLUSIVE_HOLDER = " (l.claim_id IS NULL OR l.expires_at <= ?3) ";

    private static final String FREE_FOR_ME = " (" + SHARED_UNTIL + " <= ?3 AND (l.claim_id = ?2 OR ("
            + NO_EXCLUSIVE_HOLDER + "AND" + turnAfter("(SELECT count(*)" + WAITING + "AND q.arrival < ?4)") + "))) ";

    /** ?1 name, ?2 claim id, ?3 now, ?4 place, then ?5 lowest number, ?6 expiry, ?7 to ?10 the holder. */
    static final String CLAIM = """
            INSERT INTO holdfast_lock AS l
              (name, layout, claim_id, number, acquired_at, expires_at, served, host, pid, thread, label)
            VALUES (?1, 1, ?2, max(?5, (SELECT floor + 1 FROM holdfast_meta)), ?3, ?6, 0, ?7, ?8, ?9, ?10)
            ON CONFLICT (name) DO UPDATE SET
              claim_id = excluded.claim_id,
              number = max(l.number + 1, excluded.number, coalesce((SELECT max(c.number) + 1 FROM holdfast_claim c
                WHERE c.name = l.name), 0)),
              acquired_at = excluded.acquired_at,
              expires_at = excluded.expires_at,
              served = CASE
                WHEN l.claim_id = ?2 THEN l.served
                WHEN ?4 < 9223372036854775807 THEN max(l.served, ?4)
                ELSE max(l.served, coalesce((SELECT max(arrival) FROM holdfast_claim WHERE name = ?1), 0)) END,
              host = excluded.host, pid = excluded.pid, thread = excluded.thread, label = excluded.label
            WHERE l.layout <= 1 AND""" + FREE_FOR_ME;

    /** ?1 name, ?2 claim id. */
    static final String NUMBER = "SELECT number FROM holdfast_lock WHERE name = ?1 AND claim_id = ?2";

    /** ?1 name, ?2 claim id, ?3 now, ?4 expiry, ?5 to ?8 the waiter, ?9 mode, ?10 permits, ?11 of how many. */
    static final String ENQUEUE = """
            INSERT INTO holdfast_claim VALUES (?1, max(?3,
                coalesce((SELECT max(arrival) + 1 FROM holdfast_claim WHERE name = ?1), 0),
                coalesce((SELECT served + 1 FROM holdfast_lock WHERE name = ?1), 0)),
              ?2, ?9, ?10, ?11, 'waiting', 0, ?3, ?4, ?5, ?6, ?7, ?8)""";

    /** ?1 name, ?2 claim id. */
    static final String PLACE =
            "SELECT arrival FROM holdfast_claim WHERE name = ?1 AND claim_id = ?2 ORDER BY arrival DESC LIMIT 1";

    static final String FORGET_PLACES =
            "DELETE FROM holdfast_claim WHERE name = ?1 AND arrival <= ?2 AND state = 'waiting'";
    static final String DEQUEUE = "DELETE FROM holdfast_claim WHERE name = ?1 AND claim_id = ?2 AND state = 'waiting'";

    /** ?1 now, then name, arrival and life of each place. */
    static String keepPlaces(int places) {
        return "WITH v(name, arrival, life) AS (" + values(2, 3, places) + ") UPDATE holdfast_claim AS q"
                + " SET expires_at = ?1 + v.life FROM v WHERE q.name = v.name AND q.arrival = v.arrival";
    }

    /** ?1 now, then name, claim id and lease of each grant. */
    static String renew(int grants) {
        return "WITH v(name, id, lease) AS (" + values(2, 3, grants) + ") UPDATE holdfast_lock AS l"
                + " SET expires_at = ?1 + v.lease FROM v"
                + " WHERE l.name = v.name AND l.claim_id = v.id AND l.expires_at > ?1";
    }

    /** As {@link #renew}, right after it: a row for each valid grant, its id and whether others wait. */
    static String renewed(int grants) {
        return "WITH v(name, id, lease) AS (" + values(2, 3, grants) + ") SELECT l.claim_id, EXISTS (SELECT 1"
                + waiting("l", "?1") + ") FROM v CROSS JOIN holdfast_lock l"
                + " WHERE l.name = v.name AND l.claim_id = v.id AND l.expires_at > ?1";
    }

    /** ?1 name, ?2 claim id, ?3 now, ?4 lowest number, ?5 expiry. */
    static final String EXTEND = "UPDATE holdfast_lock AS l SET number = max(l.number + 1, ?4), acquired_at = ?3,"
            + " expires_at = ?5 WHERE l.name = ?1 AND l.claim_id = ?2 AND l.expires_at > ?3 AND NOT EXISTS (SELECT 1"
            + WAITING + ")";

    /** ?1 name, ?2 claim id, ?3 now. */
    static final String RELEASE = "UPDATE holdfast_lock SET claim_id = NULL, expires_at = ?3"
            + " WHERE name = ?1 AND claim_id = ?2 AND expires_at > ?3";

    /** ?1 name, ?2 claim id. It has been free since its lease ended. */
    static final String RELEASE_RUN_OUT = "UPDATE holdfast_lock SET claim_id = NULL WHERE name = ?1 AND claim_id = ?2";

    /** ?1 name, ?2 an id that no claim has, ?3 now, ?4 the number of the grant. */
    static final String BREAK = "UPDATE holdfast_lock SET claim_id = ?2"
            + " WHERE name = ?1 AND claim_id IS NOT NULL AND expires_at > ?3 AND number = ?4";

    /** ?1 name, ?2 now, ?3 the number of the grant. */
    static final String BREAK_NOW = "UPDATE holdfast_lock SET claim_id = NULL, expires_at = ?2"
            + " WHERE name = ?1 AND claim_id IS NOT NULL AND expires_at > ?2 AND number = ?3";

    /** Of the shared holders of a lock, the one with the longest lease. */
    private static final String STATUS_OF = """
            SELECT l.name, CASE WHEN l.claim_id IS NOT NULL AND l.expires_at > ?1 THEN 'exclusive' ELSE h.mode END AS held,
              coalesce(h.number, l.number), ?1 - coalesce(h.since, l.acquired_at),
              coalesce(h.expires_at, l.expires_at) - ?1, coalesce(h.host, l.host), coalesce(h.pid, l.pid),
              coalesce(h.thread, l.thread), coalesce(h.label, l.label),
              (SELECT count(*)""" + waiting("l", "?1") + """
            ) AS waiting
            FROM holdfast_lock l LEFT JOIN holdfast_claim h ON h.name = l.name AND h.arrival = (SELECT s.arrival
              FROM holdfast_claim s WHERE s.name = l.name AND s.state = 'holding' AND s.expires_at > ?1
              ORDER BY s.expires_at DESC LIMIT 1)
            WHERE\s""";

    /** ?1 now, ?2 name. */
    static final String STATUS = STATUS_OF + "l.name = ?2";

    /** ?1 the first name, ?2 the limit below which all names are, ?3 the end of the previous page. */
    static final String END_OF_PAGE = "SELECT name FROM holdfast_lock WHERE name >= ?1 AND name < ?2 AND name > ?3"
            + " ORDER BY name LIMIT 1 OFFSET " + (PagedListing.PAGE - 1);

    /** ?1 now, ?2 the first name, ?3 the limit below which all names are, ?4 and ?5 the ends of the previous page and this. */
    static final String LIST = STATUS_OF
            + "l.name >= ?2 AND l.name < ?3 AND l.name > ?4 AND l.name <= ?5 AND (waiting > 0 OR held IS NOT NULL)";

    /** ?1 now, ?2 the first name, ?3 the limit below which all names are. */
    static final String WAITERS = """
            SELECT q.name, q.host, q.pid, q.thread, q.label, q.mode, ?1 - q.since
            FROM holdfast_claim q LEFT JOIN holdfast_lock l ON l.name = q.name
            WHERE q.state = 'waiting' AND q.expires_at > ?1 AND q.arrival > coalesce(l.served, -1)
              AND q.name >= ?2 AND q.name < ?3
            ORDER BY q.name, q.arrival""";

    /** ?1 after which name, ?2 bound of expires_at, ?3 how many to read: where the batch ends, the highest number to remove. */
    static final String IDLE = "SELECT max(name), max(CASE WHEN expires_at < ?2 THEN number END) FROM"
            + " (SELECT name, number, expires_at FROM holdfast_lock WHERE name > ?1 ORDER BY name LIMIT ?3)";

    /** ?1 now. */
    static final String PURGED = "UPDATE holdfast_meta SET purged_at = ?1";

    static final String PURGED_AT = "SELECT purged_at FROM holdfast_meta";

    static final String RAISE_FLOOR = "UPDATE holdfast_meta SET floor = max(floor, ?1)";

    /** ?1 after which name, ?2 up to which, ?3 the bound below which expires_at is. */
    static final String REMOVE_IDLE =
            "DELETE FROM holdfast_lock AS l WHERE name > ?1 AND name <= ?2 AND expires_at < ?3"
                    + " AND NOT EXISTS (SELECT 1 FROM holdfast_claim c WHERE c.name = l.name)";

    /** ?1 the bound below which expires_at is. The lock's row keeps the numbers of shared grants whose rows are removed. */
    static final String KEEP_NUMBERS = "UPDATE holdfast_lock AS l SET number = dead.number FROM (SELECT name,"
            + " max(number) AS number FROM holdfast_claim WHERE expires_at < ?1 GROUP BY name) AS dead"
            + " WHERE l.name = dead.name AND l.number < dead.number";

    /** ?1 the bound below which expires_at is. */
    static final String REMOVE_DEAD = "DELETE FROM holdfast_claim WHERE expires_at < ?1";

    private SqliteSql() {}

    /**
     * Whether it is the turn, at ?3 (now), of a claim with so many ahead: the lock was free for a turn of each of them,
     * five at most. While the lock is shared no turn passes.
     */
    static String turnAfter(String ahead) {
        return " max(0, ?3 - max(l.expires_at, " + SHARED_UNTIL + ")) >= " + TURN_MICROS + " * min(5, " + ahead + ") ";
    }

    /** The highest number among the shared grants of a lock whose rows are still there. */
    static String highestShared(String lock) {
        return "coalesce((SELECT max(c.number) FROM holdfast_claim c WHERE c.name = " + lock + ".name), 0)";
    }

    static String waiting(String lock, String now) {
        return " FROM holdfast_claim q WHERE q.name = " + lock + ".name AND q.arrival > " + lock + ".served"
                + " AND q.state = 'waiting' AND q.expires_at > " + now + " ";
    }

    /** {@code VALUES (?n, ?n+1), (…)}: rows of numbered parameters. */
    static String values(int first, int columns, int rows) {
        StringJoiner text = new StringJoiner(", ", "VALUES ", "");
        for (int row = 0; row < rows; row++) {
            StringJoiner one = new StringJoiner(", ", "(", ")");
            for (int column = 0; column < columns; column++) {
                one.add("?" + (first + row * columns + column));
            }
            text.add(one.toString());
        }
        return text.toString();
    }
}
