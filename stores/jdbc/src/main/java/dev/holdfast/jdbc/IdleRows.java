package dev.holdfast.jdbc;

import dev.holdfast.spi.support.Micros;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** The rows that nobody uses, on one connection. For one thread. */
final class IdleRows {
    private static final long BATCH = 200;
    private static final int MOST_REMOVED = 8;

    private final ServerDialect dialect;
    private final RowSql sql;
    private final SqlSession session;

    IdleRows(ServerDialect dialect, RowSql sql, SqlSession session) {
        this.dialect = dialect;
        this.sql = sql;
        this.session = session;
    }

    /** Whether it is this client's turn to remove idle rows: nobody has for so long. */
    boolean begin(Duration since) throws SQLException {
        return session.update(sql.beginPurge, List.of(dialect.name(""), Micros.of(since))) > 0;
    }

    /** After which name the last client left off; the empty name if it came to the end. */
    String leftOff() throws SQLException {
        return session.all(sql.purgedTo, row -> row.getString(1), List.of(dialect.name(""))).stream()
                .findFirst()
                .orElse("");
    }

    /** Has the next client go on from there, whenever it comes. */
    void leaveUnfinished(String after) throws SQLException {
        session.update(sql.leavePurge, List.of(RowParameters.limited(after), dialect.name("")));
    }

    /** The next round begins with the first name. */
    void end() throws SQLException {
        session.update(sql.endPurge, List.of(dialect.name("")));
    }

    /**
     * Goes through the next rows, and removes some that are idle: few at a time, since each is a commit.
     *
     * @return the name up to which it came, or nothing at the end
     */
    String remove(String after, Duration idle) throws SQLException {
        List<LockRows.Named> rows = session.all(
                sql.idle, row -> LockRows.Named.read(dialect.name(row, 1), row), List.of(dialect.name(after), BATCH));
        int removed = 0;
        for (LockRows.Named each : rows) {
            RowSnapshot row = each.row();
            if (row != null && isIdle(row.state(), Micros.of(idle))) {
                session.update(
                        sql.remove,
                        List.of(dialect.name(each.name()), row.state().version()));
                removed++;
            }
            if (removed == MOST_REMOVED) {
                return each.name();
            }
        }
        return rows.size() < BATCH ? "" : rows.get(rows.size() - 1).name();
    }

    /** The version rose by the clock with every change: an old one means that nothing has happened for long. */
    private static boolean isIdle(LockRow row, long idle) {
        long before = row.now() - idle;
        HolderEntry alone = row.exclusive();
        return row.version() < before
                && (alone == null || alone.expiresAt() < before)
                && row.sharing().stream().allMatch(each -> each.expiresAt() < before)
                && row.waiting().stream().allMatch(each -> each.aliveUntil() < before);
    }
}
