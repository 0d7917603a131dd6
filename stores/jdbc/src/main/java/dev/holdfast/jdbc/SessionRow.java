package dev.holdfast.jdbc;

import dev.holdfast.Holder;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The row of a name. The server's lock decides which session has the name; the row says which client that is, and the number of the grant.
 *
 * @param name the lock
 * @param layout of the row
 * @param number of the server's lock; another one when the lock was broken at once
 * @param version counts the changes of the row
 * @param claim the claim that has acquired the lock and not released it; {@link #ENDED} where such a grant has ended otherwise; null
 *     when it was released
 * @param grantNumber of that grant, or the last one
 * @param acquiredAt when
 * @param session how long its client may still believe in it when the session is gone, in microseconds
 * @param freeAt when nobody believes any more in the grant that has ended
 * @param holder the holder, for people to read
 * @param now the server's time
 * @param held whether any session has the server's lock
 * @param waiting how many sessions wait for it
 */
record SessionRow(
        String name,
        int layout,
        int number,
        long version,
        @Nullable String claim,
        long grantNumber,
        long acquiredAt,
        long session,
        long freeAt,
        Holder holder,
        long now,
        boolean held,
        int waiting) {
    static final int LAYOUT = 1;
    /** The grant was broken, or its session ended without a release. */
    static final String ENDED = "-";

    static final String COLUMNS = "s.name, s.layout, s.number, s.version, s.claim_id, s.grant_number, s.acquired_at,"
            + " s.session, s.free_at, s.host, s.pid, s.thread, s.label";

    private static final long TOKENS_PER_GRANT = 1024;

    static SessionRow read(ServerDialect dialect, ResultSet row) throws SQLException {
        return new SessionRow(
                dialect.name(row, 1),
                row.getInt(2),
                row.getInt(3),
                row.getLong(4),
                row.getString(5),
                row.getLong(6),
                row.getLong(7),
                row.getLong(8),
                row.getLong(9),
                new Holder(row.getString(10), row.getLong(11), row.getString(12), row.getString(13)),
                row.getLong(14),
                row.getBoolean(15),
                row.getInt(16));
    }

    /** How long the next one still has to wait because of clients that believe in the grant that has ended, in microseconds. */
    long believedFor() {
        return ENDED.equals(claim) ? Math.max(0, freeAt - now) : 0;
    }

    LockStatus status() {
        boolean ended = ENDED.equals(claim);
        boolean shown = claim != null && (ended ? believedFor() > 0 : held);
        Duration left = Duration.of(ended ? believedFor() : session, ChronoUnit.MICROS);
        Duration since = Duration.of(Math.max(0, now - acquiredAt), ChronoUnit.MICROS);
        return new LockStatus(
                name,
                shown
                        ? Optional.of(new LockStatus.Held(
                                LockMode.EXCLUSIVE, grantNumber * TOKENS_PER_GRANT, holder, since, left))
                        : Optional.empty(),
                waiting);
    }
}
