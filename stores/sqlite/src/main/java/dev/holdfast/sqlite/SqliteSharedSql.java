package dev.holdfast.sqlite;

/**
 * The statements for SQLite that depend on modes: whether it is the turn of a claim of any mode, and everything about
 * readers and permits.
 *
 * <p>Each shared holder of a lock has a row in {@code holdfast_claim} (state {@code holding}). A claim fits beside those
 * rows, or it does not. To count all modes alike, an exclusive claim wants 1 of 1 permits, and a holder without permits
 * counts as the whole total of the claim. Each claim counts by its own total.
 *
 * <pre>
 *   claim        fits?    no exclusive holder, and     shared: no permits are held
 *                                                      else:   permits held + permits wanted ≤ its total
 *                turn?    no claim waits before it that it would pass (a reader may pass readers);
 *                         or the lock has been free for a turn of each of them
 * </pre>
 *
 * <p>A grant is one INSERT with all these conditions. Its number is above that of the lock's row and of all its shared
 * holders. Before such a row is removed, the lock's row takes over its number: in an earlier statement, so that a process
 * that dies between the two loses nothing.
 */
final class SqliteSharedSql {
    private static final String LIVE =
            " FROM holdfast_claim h WHERE h.name = l.name AND h.state = 'holding' AND h.expires_at > ?3 ";

    /** ?5 mode, ?6 permits, ?7 of how many. */
    private static final String FITS =
            SqliteSql.NO_EXCLUSIVE_HOLDER + "AND CASE ?5 WHEN 'shared' THEN NOT EXISTS (SELECT 1"
                    + LIVE
                    + "AND h.mode = 'permits') ELSE (SELECT coalesce(sum(CASE h.mode WHEN 'permits' THEN h.permits ELSE ?7"
                    + " END), 0)" + LIVE + ") + ?6 <= ?7 END ";

    private static final String BEFORE =
            SqliteSql.waiting("l", "?3") + "AND q.arrival < ?4 AND (q.mode <> 'shared' OR ?5 <> 'shared')";

    private static final String AHEAD = "(SELECT count(*)" + BEFORE + ")";

    /** ?1 name, ?2 claim id, ?3 now, ?4 place, ?5 to ?7 mode. No row: the lock has never been held. */
    static final String COULD_BE_GRANTED =
            "SELECT l.claim_id = ?2 OR EXISTS (SELECT 1" + LIVE + "AND h.claim_id = ?2) OR (" + FITS + "AND"
                    + SqliteSql.turnAfter(AHEAD) + "), l.layout FROM holdfast_lock l WHERE l.name = ?1";

    /**
     * Parameters as in {@link #COULD_BE_GRANTED}. Columns: whether the claim fits, when a lease ends or ended, how many
     * claims are ahead, whether the place is still valid, layout, when the first place ahead ends unless it is kept alive.
     */
    static final String POLL = "SELECT" + FITS + ", CASE WHEN" + SqliteSql.NO_EXCLUSIVE_HOLDER
            + "THEN coalesce((SELECT min(h.expires_at)" + LIVE + "), max(l.expires_at, " + SqliteSql.SHARED_UNTIL
            + ")) ELSE l.expires_at END, " + AHEAD + ", EXISTS (SELECT 1 FROM holdfast_claim q WHERE q.name = ?1"
            + " AND q.arrival = ?4 AND q.arrival > l.served AND q.claim_id = ?2), l.layout, (SELECT"
            + " min(q.expires_at)" + BEFORE + ")"
            + " FROM holdfast_lock l WHERE l.name = ?1";

    /** ?1 name. */
    static final String CREATE_FREE =
            "INSERT OR IGNORE INTO holdfast_lock VALUES (?1, 1, NULL, 0, 0, 0, 0, '', 0, '', '')";

    /** ?1 to ?7 as in {@link #COULD_BE_GRANTED}, ?8 lowest number, ?9 expiry, ?10 to ?13 the holder. */
    static final String CLAIM = "INSERT INTO holdfast_claim SELECT ?1, max(?3, l.served + 1, coalesce((SELECT"
            + " max(arrival) + 1 FROM holdfast_claim WHERE name = ?1), 0)), ?2, ?5, ?6, ?7, 'holding', "
            + nextNumber("?8")
            + ", ?3, ?9, ?10, ?11, ?12, ?13 FROM holdfast_lock l WHERE l.name = ?1 AND l.layout <= 1 AND" + FITS + "AND"
            + SqliteSql.turnAfter(AHEAD);

    private static final String MINE = " c.name = ?1 AND c.claim_id = ?2 AND c.state = 'holding' ";

    /** ?1 name, ?2 claim id, ?3 now, ?4 lowest number, ?5 expiry. A lease that ends later is left as it is. */
    static final String CLAIM_AGAIN = "UPDATE holdfast_claim AS c SET number = " + nextNumber("?4")
            + ", expires_at = max(c.expires_at, ?5) FROM holdfast_lock l WHERE l.name = ?1 AND" + MINE
            + "AND c.expires_at > ?3";

    /** The same, unless a claim waits. */
    static final String EXTEND = CLAIM_AGAIN + " AND NOT EXISTS (SELECT 1" + SqliteSql.waiting("l", "?3") + ")";

    /** ?1 name, ?2 claim id. */
    static final String NUMBER =
            "SELECT max(c.number) FROM holdfast_claim c WHERE" + MINE + "HAVING max(c.number) IS NOT NULL";

    /** ?1 name, ?2 claim id, ?3 place, ?4 mode. Its own place, and those it passed, whose claims let their turns pass. */
    static final String FORGET_PLACES = "DELETE FROM holdfast_claim WHERE name = ?1 AND state = 'waiting'"
            + " AND (claim_id = ?2 OR (arrival < ?3 AND (mode <> 'shared' OR ?4 <> 'shared')))";

    /**
     * ?1 name, ?2 claim id, ?3 now. Adds an exclusive holder's row among the shared holders, with its number and its lease.
     * No other claim is granted before {@link SqliteSql#RELEASE} has ended the exclusive grant.
     */
    static final String DOWNGRADE = "INSERT INTO holdfast_claim SELECT ?1, max(?3, l.served + 1, coalesce((SELECT"
            + " max(arrival) + 1 FROM holdfast_claim WHERE name = ?1), 0)), ?2, 'shared', 1, 1, 'holding', l.number,"
            + " l.acquired_at, l.expires_at, l.host, l.pid, l.thread, l.label FROM holdfast_lock l WHERE l.name = ?1"
            + " AND l.claim_id = ?2 AND l.layout <= 1 AND l.expires_at > ?3"
            + " AND NOT EXISTS (SELECT 1 FROM holdfast_claim c WHERE" + MINE + ")";

    /** ?1 name, ?2 claim id, ?3 now. */
    static final String SHARES =
            "SELECT EXISTS (SELECT 1 FROM holdfast_claim c WHERE" + MINE + "AND c.expires_at > ?3)";

    /** ?1 name, ?2 now, ?3 the number of a grant. */
    static final String HAS_GRANT = "SELECT EXISTS (SELECT 1 FROM holdfast_claim WHERE name = ?1 AND state = 'holding'"
            + " AND expires_at > ?2 AND number = ?3)";

    private static final String OF_ALL = " FROM holdfast_claim c WHERE c.name = ?1 AND c.state = 'holding'";

    /** ?1 name, ?2 now, ?3 claim id. Updates the lock's row before a shared holder's row is removed. */
    static final String FREE_SINCE_NOW = freeSinceNow(OF_ALL + " AND c.claim_id = ?3");

    /** ?1 name, ?2 now, ?3 the number of a grant. */
    static final String BROKEN_FREE_SINCE_NOW = freeSinceNow(OF_ALL + " AND c.number = ?3");

    /** ?1 name, ?2 claim id, ?3 now. */
    static final String RELEASE = "DELETE FROM holdfast_claim AS c WHERE" + MINE + "AND c.expires_at > ?3";

    /** ?1 name, ?2 claim id. */
    static final String RELEASE_RUN_OUT = "DELETE FROM holdfast_claim AS c WHERE" + MINE;

    /** ?1 name, ?2 an id that no claim has, ?3 now, ?4 the number of the grant. */
    static final String BREAK = "UPDATE holdfast_claim SET claim_id = ?2"
            + " WHERE name = ?1 AND state = 'holding' AND expires_at > ?3 AND number = ?4";

    /** ?1 name, ?2 now, ?3 the number of the grant. */
    static final String BREAK_NOW =
            "DELETE FROM holdfast_claim WHERE name = ?1 AND state = 'holding' AND expires_at > ?2 AND number = ?3";

    private SqliteSharedSql() {}

    /** ?1 now, then name, claim id and lease of each grant. */
    static String renew(int grants) {
        return "WITH v(name, id, lease) AS (" + SqliteSql.values(2, 3, grants) + ") UPDATE holdfast_claim AS c"
                + " SET expires_at = ?1 + v.lease FROM v WHERE c.name = v.name AND c.claim_id = v.id"
                + " AND c.state = 'holding' AND c.expires_at > ?1";
    }

    /** As {@link #renew}, right after it: a row for each valid grant, its id and whether others wait. */
    static String renewed(int grants) {
        return "WITH v(name, id, lease) AS (" + SqliteSql.values(2, 3, grants) + ") SELECT c.claim_id, EXISTS (SELECT 1"
                + SqliteSql.waiting("l", "?1") + ") FROM v CROSS JOIN holdfast_lock l CROSS JOIN holdfast_claim c"
                + " WHERE l.name = v.name AND c.name = v.name AND c.claim_id = v.id AND c.state = 'holding'"
                + " AND c.expires_at > ?1";
    }

    private static String freeSinceNow(String ending) {
        return "UPDATE holdfast_lock AS l SET claim_id = NULL, expires_at = ?2, number = max(l.number, (SELECT"
                + " max(c.number)" + ending + ")) WHERE l.name = ?1 AND (l.claim_id IS NULL OR l.expires_at <= ?2)"
                + " AND EXISTS (SELECT 1" + ending + ")";
    }

    private static String nextNumber(String lowest) {
        return "max(" + lowest + ", (SELECT floor + 1 FROM holdfast_meta), l.number + 1, "
                + SqliteSql.highestShared("l") + " + 1)";
    }
}
