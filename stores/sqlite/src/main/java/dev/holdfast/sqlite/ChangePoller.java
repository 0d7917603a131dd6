package dev.holdfast.sqlite;

import dev.holdfast.spi.Claim;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices changes by polling <a href="https://sqlite.org/pragma.html#pragma_data_version">PRAGMA data_version</a> on a
 * connection of its own: it costs a few microseconds, and shows commits by every other connection, of other
 * processes and of this one.
 *
 * <p>After a queue has moved, it is likely to move again soon. So the first pause is short, and each pause is as long as
 * all before it together, for the next in turn a quarter of that, up to a limit that depends on the place in the queue. When
 * no queue has moved for long, a pause is a thousandth of that time, also if other locks of the file change all the time. A
 * poll costs some tens of microseconds, half of them for waking up.
 *
 * <pre>
 *   since a queue has moved    0   0.5   1    2    4    8 …       2 s …     10 s    20 s and more
 *   pause, next in turn       0.1  0.13 0.25 0.5   1    2 …        2         10      20 ms
 *          one ahead          0.5  0.5   1    2    4    4 …        4         10      20 ms
 *          two or more        0.5  0.5   1    2    4    8 …        8         10      20 ms
 * </pre>
 */
final class ChangePoller implements AutoCloseable {
    private static final long SHORTEST = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long SHORTEST_OF_NEXT = TimeUnit.MICROSECONDS.toNanos(100);
    private static final int SHARE_OF_NEXT = 4;
    private static final long NEXT_IN_TURN = Duration.ofMillis(2).toNanos();
    private static final long LONGEST = Duration.ofMillis(20).toNanos();

    private final SqliteSession session;
    private final SqliteClock clock;
    private final SqliteSession.Operation<Long> dataVersion;
    private long version = -1;
    private long moved = System.nanoTime();

    ChangePoller(SqliteSession session, SqliteClock clock) {
        this.session = session;
        this.clock = clock;
        this.dataVersion = () -> session.number("PRAGMA data_version");
    }

    /**
     * Pauses until something may have changed, the thread is unparked, or it is time to poll anyway.
     *
     * @param ahead how many claims are before the foremost waiting one of this client; the next in turn polls most often
     * @param atMostNanos the longest pause: until a poll is due
     * @return whether something has changed since the last call; always true at the first
     */
    boolean await(int ahead, long atMostNanos) {
        if (version >= 0) {
            LockSupport.parkNanos(Math.min(pause(System.nanoTime() - moved, ahead), atMostNanos));
        }
        long before = version;
        version = session.run("wait", "", dataVersion);
        return version != before;
    }

    /** A queue in which a claim waits has moved: the next pauses are short. */
    void queueMoved() {
        moved = System.nanoTime();
    }

    static long pause(long sinceMoved, int ahead) {
        long longest = NEXT_IN_TURN << Math.min(ahead, 2);
        long afterMove = ahead == 0
                ? Math.max(SHORTEST_OF_NEXT, Math.min(sinceMoved / SHARE_OF_NEXT, longest))
                : Math.max(SHORTEST, Math.min(sinceMoved, longest));
        return Math.max(afterMove, Math.min(sinceMoved / 1000, LONGEST));
    }

    /** Reads how far a waiting claim is from its turn. */
    Turn poll(Claim claim, long place) {
        return session.run("wait for", claim.name(), () -> {
            long now = clock.micros();
            Object[] arguments = SqliteSharedLocks.question(claim, place, now);
            return session.first(SqliteSharedSql.POLL, row -> turn(claim.name(), row, now), arguments)
                    .orElse(Turn.LOST);
        });
    }

    private Turn turn(String name, ResultSet row, long now) throws SQLException {
        session.refuseNewer(name, row.getLong(5));
        if (!row.getBoolean(4)) {
            return Turn.LOST;
        }
        boolean fits = row.getBoolean(1);
        int ahead = row.getInt(3);
        if (fits && ahead == 0) {
            return new Turn(false, true, 0, 0);
        }
        long turn = row.getLong(2) + SqliteSql.TURN_MICROS * Math.min(ahead, 5);
        long mine = ahead == 0 ? turn : Math.min(turn, row.getLong(6)); // the claim before it may have died
        return new Turn(false, fits, ahead, TimeUnit.MICROSECONDS.toNanos(Math.max(0, mine - now)));
    }

    @Override
    public void close() {
        session.close();
    }

    /**
     * How far a waiting claim is from its turn.
     *
     * @param lost whether its place in the queue is gone: it must enter again
     * @param fits whether the lock is free for it, if it were the first
     * @param ahead how many live claims are before it
     * @param nanos how long until it may try even if nothing changes, by the file's clock: 0 for now
     */
    record Turn(boolean lost, boolean fits, int ahead, long nanos) {
        static final Turn LOST = new Turn(true, false, 0, 0);
    }
}
