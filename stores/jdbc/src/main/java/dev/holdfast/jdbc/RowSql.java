package dev.holdfast.jdbc;

import dev.holdfast.spi.support.PagedListing;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The statements of the servers: one text for all of them, with what differs put in by the {@link ServerDialect}. Times
 * are microseconds since 1970 by the database's own clock, so that no time zone counts; all of them in one statement are
 * the same moment.
 *
 * <pre>
 *   holdfast_lock     one row for each name
 *     name            byte for byte; '' is the row of the table itself: its layout, when idle rows were last removed, and in label up to
 *                     which name if that is not finished
 *     layout          of this row
 *     version         counts its changes
 *     claim_id        the exclusive holder; null when free; '-' when it was broken
 *     grant_number    of that one; 0 while it is an offer
 *     acquired_at, expires_at
 *     waiting         the queue, see {@link RowCodec}
 *     sharing         readers and permits, see {@link RowCodec}
 *     host, pid, thread, label   of the exclusive holder, for people to read
 * </pre>
 */
final class RowSql {
    /** The layout this version writes, and the newest it understands. */
    static final long LAYOUT = 1;

    static final String COLUMNS = "layout, version, claim_id, grant_number, acquired_at, expires_at, waiting, sharing,"
            + " host, pid, thread, label";

    private static final String NEW_ROW = "name, " + COLUMNS;

    final String table;
    final String now;

    /** Version and name only go up by this. */
    final String read;

    final String readToChange;
    final String readToPoll;

    /** Parameters: see {@link RowParameters}. Of a lock that is free, or was offered to this claim. */
    final String claim;

    /** The same parameters. Of a lock that another claim holds, which is released by it. */
    final String exchange;

    final String insert;
    final String write;
    final String release;
    final String status;

    /** Parameters: the first name, what all names are before, the end of the page before. */
    final String endOfPage;

    /** The same, and the end of this page. */
    final String list;

    final String idle;
    final String remove;
    final String beginPurge;
    final String purgedTo;
    final String leavePurge;
    final String endPurge;

    /** Parameters: how long ago the last removal of idle rows must be for the next to be due, then the name. */
    final String layout;

    private final Map<String, String> made = new ConcurrentHashMap<>();

    RowSql(ServerDialect dialect, String table) {
        this.table = table;
        this.now = dialect.now();
        this.read = "SELECT " + COLUMNS + ", " + now + " FROM " + table + " WHERE name = ?";
        this.readToChange = dialect.readToChange(read);
        this.readToPoll = dialect.readToPoll(read);
        String number = next(dialect.assigned("acquired_at", now));
        String take = "UPDATE " + table + " SET acquired_at = " + now + ", expires_at = " + now
                + " + ?, grant_number = " + dialect.givenBack(number) + ", version = " + number
                + ", host = ?, pid = ?, thread = ?, label = ?, claim_id = ? WHERE name = ? AND layout <= " + LAYOUT;
        this.claim = take + " AND ((claim_id = ? AND grant_number = 0) OR (waiting = ''"
                + " AND sharing = '' AND (claim_id IS NULL OR expires_at <= " + now + ")))";
        this.exchange = take + " AND claim_id = ? AND grant_number > 0 AND waiting = '' AND sharing = ''"
                + " AND expires_at > " + now;
        String first = "GREATEST(?, " + now + ")";
        this.insert = dialect.insertIfAbsent(
                table,
                NEW_ROW,
                "?, " + LAYOUT + ", " + first + ", ?, " + first + ", " + now + ", " + now + " + ?, '', '', ?, ?, ?, ?");
        this.write = "UPDATE " + table + " SET claim_id = ?, grant_number = ?, acquired_at = ?,"
                + " expires_at = CASE WHEN ? = 1 THEN " + now + " + ? ELSE expires_at END, version = ?, waiting = ?,"
                + " sharing = ?, host = ?, pid = ?, thread = ?, label = ? WHERE name = ? AND version = ?";
        this.release = "UPDATE " + table + " SET claim_id = NULL, expires_at = " + now + ", version = "
                + next(dialect.assigned("expires_at", now))
                + " WHERE name = ? AND claim_id = ? AND grant_number > 0 AND waiting = '' AND expires_at > " + now;
        this.status = "SELECT name, " + COLUMNS + ", " + now + " FROM " + table;
        String page = " WHERE name >= ? AND name < " + dialect.bound(table) + " AND name > ?";
        this.endOfPage =
                "SELECT name FROM " + table + page + " ORDER BY name" + dialect.rows("1", PagedListing.PAGE - 1);
        this.list = status + page + " AND name <= " + dialect.bound(table) + " AND (waiting <> '' OR sharing <> ''"
                + " OR (claim_id IS NOT NULL AND expires_at > " + now + "))";
        this.idle = status + " WHERE name > ? ORDER BY name" + dialect.rows("?", 0);
        this.remove = "DELETE FROM " + table + " WHERE name = ? AND version = ?";
        this.beginPurge =
                "UPDATE " + table + " SET expires_at = " + now + " WHERE name = ? AND expires_at < " + now + " - ?";
        this.purgedTo = "SELECT label FROM " + table + " WHERE name = ?";
        this.leavePurge = "UPDATE " + table + " SET expires_at = 0, label = ? WHERE name = ?";
        this.endPurge = "UPDATE " + table + " SET label = '' WHERE name = ? AND label <> ''";
        this.layout = "SELECT layout, CASE WHEN expires_at < " + now + " - ? THEN 1 ELSE 0 END FROM " + table
                + " WHERE name = ?";
    }

    /** The next version, above a floor (a parameter) and not below the time. */
    private static String next(String time) {
        return "GREATEST(version + 1, ?, " + time + ")";
    }

    /** A statement that a dialect makes of these, put together once. */
    String once(String key, Supplier<String> text) {
        String known = made.get(key);
        return known == null ? made.computeIfAbsent(key, absent -> text.get()) : known;
    }

    /** Parameters: lease, floor, then the names, then name, claim and number of each. */
    String renew(int grants) {
        return "UPDATE " + table + " SET expires_at = " + now + " + ?, version = " + next(now) + " WHERE name IN ("
                + marks("?", grants) + ") AND (name, claim_id, grant_number) IN (" + marks("(?, ?, ?)", grants)
                + ") AND expires_at > " + now;
    }

    /** Parameters: the names. */
    String renewed(int grants) {
        return "SELECT " + renewedColumns() + " FROM " + table + " WHERE name IN (" + marks("?", grants)
                + ") AND expires_at > " + now;
    }

    static String renewedColumns() {
        return "claim_id, grant_number, CASE WHEN waiting = '' THEN 0 ELSE 1 END";
    }

    private static String marks(String mark, int times) {
        return String.join(", ", Collections.nCopies(times, mark));
    }
}
