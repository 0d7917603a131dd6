package dev.holdfast.spi.support;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Elapsed time that goes on while the machine sleeps, for a store that takes an earlier proof for a new claim.
 *
 * <p>{@code nanoTime} stands still in a sleep, and the wall clock does not. So where the wall clock has run ahead of it
 * since the last look, by more than {@link #SMALLEST_SLEEP}, that much is counted as slept. A wall clock that was set
 * forward looks the same: what was proved before then seems older than it is, which is safe, until it is proved again. One
 * that was set back changes nothing.
 *
 * <p>Thread-safe.
 *
 * <pre>{@code
 * long sent = elapsed.now();
 * ask().thenRun(() -> provedAt = sent);
 * // later, perhaps after a sleep
 * new Grant(id, name, mode, lease, number, elapsed.asNanoTime(provedAt));
 * }</pre>
 */
public final class ElapsedTime {
    /** By how many nanoseconds the wall clock has to run ahead for the machine to count as having slept. */
    public static final long SMALLEST_SLEEP = Duration.ofMillis(50).toNanos();

    private final TimeSource time;
    private final ReentrantLock mutex = new ReentrantLock();
    private long wallLead;
    private long slept;

    /** Counts the sleeps from now on. */
    public ElapsedTime(TimeSource time) {
        this.time = time;
        this.wallLead = wallLead(time);
    }

    /** How far the wall clock is ahead of {@code nanoTime}, in nanoseconds. */
    public static long wallLead(TimeSource time) {
        return TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - time.nanoTime();
    }

    /** Nanoseconds since any moment, all sleeps included; to be compared by difference. */
    public long now() {
        long sleeps = slept(); // first: a sleep in between makes a moment older than it is, and not younger
        return time.nanoTime() + sleeps;
    }

    /** The {@code nanoTime} that lies as long ago as a moment of {@link #now()}, which may be before it was taken. */
    public long asNanoTime(long moment) {
        return moment - slept();
    }

    private long slept() {
        mutex.lock();
        try {
            long now = wallLead(time);
            if (now - wallLead > SMALLEST_SLEEP) {
                slept += now - wallLead;
            }
            wallLead = now;
            return slept;
        } finally {
            mutex.unlock();
        }
    }
}
