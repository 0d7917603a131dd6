package dev.holdfast.sqlite;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long the statements of one connection wait for a database that is busy, and how: in short naps that grow from 50
 * to 1000 µs, each of random length so that two connections do not collide again.
 *
 * <p>Real time counts, whatever the client's time source says: the wait is for another process.
 *
 * <p>{@link #end()} may be called by any thread, the rest by the connection's own.
 */
final class BusyTimeout {
    private static final long FIRST_NAP = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long LONGEST_NAP = TimeUnit.MILLISECONDS.toNanos(1);

    private final long limit;
    private long since = System.nanoTime();
    private volatile boolean ended;

    BusyTimeout(Duration limit) {
        this.limit = limit.toNanos();
    }

    /** Starts again, counting from a moment of {@link System#nanoTime()}. */
    void restart(long sinceNanos) {
        since = sinceNanos;
    }

    /** Whether the wait has been long enough. */
    boolean isOver() {
        return ended || System.nanoTime() - since >= limit;
    }

    /** Ends every wait, for good. */
    void end() {
        ended = true;
    }

    /** How long it lasts, for messages. */
    long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(limit);
    }

    /** Sleeps a little; the longer, the more naps there were before. */
    void nap(int before) {
        long longest = Math.min(LONGEST_NAP, FIRST_NAP << Math.min(before, 10));
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
    }
}
