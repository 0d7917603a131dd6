package dev.holdfast.jdbc;

import dev.holdfast.spi.support.PagedListing;
import java.util.Collections;

/**
 * The statements of locks that end with a session: one text for all servers, with what differs put in by the {@link
 * SessionDialect}. The columns are described in {@link SessionRow}.
 */
final class SessionSql {
    private static final String NAMED = " WHERE s.name = ?";
    private static final String UNCHANGED = " WHERE name = ? AND version = ?";

    private final SessionDialect sessions;
    private final String table;

    final String scope;

    /** The row, whether the server takes writes, and whether this session has the lock now. */
    final String tryLock;

    final String insert;
    final String unlock;
    final String unlockNamed;
    final String unlockAll;
    final String answers;
    final String read;

    /** The same, and whether the server takes writes; without the question whether others wait. */
    final String readLocked;

    final String take;
    final String markEnded;
    final String release;
    final String breakNow;

    /** Parameters: the first name, the end of the page before, what all names are before. */
    final String list;

    SessionSql(ServerDialect dialect, SessionDialect sessions, String table, String scope) {
        this.sessions = sessions;
        this.table = table;
        this.scope = scope;
        String now = dialect.now();
        String columns = "SELECT " + SessionRow.COLUMNS + ", " + now + ", ";
        String from = " FROM " + table + " s";
        String writable = sessions.writable();
        String heldAndWaiting = sessions.held(scope, "s.number") + ", " + sessions.waiting(scope, "s.number");
        this.tryLock = sessions.onPrimary(columns + "false, 0, " + writable + ", CASE WHEN s.layout <= "
                + SessionRow.LAYOUT + " AND " + writable + " THEN " + sessions.tryLock(scope, "s.number")
                + " ELSE false END" + from + NAMED);
        this.insert = dialect.insertIfAbsent(
                table,
                "name, layout, number, version, claim_id, grant_number, acquired_at, session, free_at, host, pid,"
                        + " thread, label",
                "?, " + SessionRow.LAYOUT + ", ?, 0, NULL, 0, 0, 0, 0, '', 0, '', ''");
        this.unlock = sessions.onPrimary("SELECT " + sessions.unlock(scope, "?"));
        this.unlockNamed = sessions.onPrimary("SELECT " + sessions.unlock(scope, "s.number") + from + NAMED);
        this.unlockAll = sessions.onPrimary("SELECT " + sessions.unlockAll());
        this.answers = sessions.onPrimary("SELECT " + writable);
        this.read = sessions.onPrimary(columns + heldAndWaiting + from + NAMED);
        this.readLocked = sessions.onPrimary(columns + "true, 0, " + writable + from + NAMED);
        String change = "UPDATE " + table + " SET version = version + 1, claim_id = ";
        this.take = change + "?, grant_number = ?, acquired_at = " + now
                + ", session = ?, free_at = 0, host = ?, pid = ?, thread = ?, label = ?" + UNCHANGED;
        this.markEnded = change + "'" + SessionRow.ENDED + "', free_at = session + " + now + UNCHANGED;
        this.release = sessions.unforced(change + "NULL WHERE name = ? AND claim_id = ?");
        this.breakNow = change + "NULL, number = ?" + UNCHANGED;
        this.list = columns + heldAndWaiting + from
                + " WHERE s.claim_id IS NOT NULL AND s.name >= ? AND s.name > ? AND s.name < " + dialect.bound(table)
                + " ORDER BY s.name" + dialect.rows(Integer.toString(PagedListing.PAGE), 0);
    }

    /**
     * Of so many names: the claim in the row, how many wait for it, and whether the server takes writes.
     *
     * @param andWaiting whether it is asked how many wait
     */
    String valid(int names, boolean andWaiting) {
        return sessions.onPrimary("SELECT s.claim_id, "
                + (andWaiting ? sessions.waiting(scope, "s.number") : "0") + ", " + sessions.writable() + " FROM "
                + table + " s WHERE s.name IN (" + String.join(", ", Collections.nCopies(names, "?"))
                + ") AND s.claim_id IS NOT NULL");
    }
}
