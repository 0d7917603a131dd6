package dev.holdfast.spi.support;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A source of time that also knows how long the machine has slept.
 *
 * <p>{@code nanoTime} stands still in a sleep, and the wall clock does not. So where the wall clock has run ahead of it since
 * the last look, that much was slept. A wall clock that was set forward looks the same: what was proved before then seems
 * older than it is, until it is proved again: so {@link Moment#elapsed} is for ages, which must not be too small, and
 * {@code nanoTime} for times that must have passed. One that was set back makes nothing younger, and a sleep after
 * it is seen as any other. Two things look like a sleep and are none: the two clocks drift apart, by less than a thousandth;
 * and between readings of them the thread may have had to wait, which a second reading of {@code nanoTime} shows.
 *
 * <p>How long a sleep was, a machine may know from a clock of whole seconds: so up to a second more is counted.
 *
 * <p>Thread-safe, without a lock.
 *
 * <pre>{@code
 * Moment sent = elapsed.now();
 * ask().thenRun(() -> provedAt = sent);
 * // later, perhaps after a sleep
 * new Grant(id, name, mode, lease, number, elapsed.asNanoTime(provedAt));
 * }</pre>
 */
public final class ElapsedTime implements TimeSource {
    /** By how many nanoseconds the wall clock has to run ahead for the machine to count as having slept. */
    static final long SMALLEST_SLEEP = Duration.ofMillis(50).toNanos();

    private static final long LARGEST_ERROR = Duration.ofSeconds(1).toNanos();
    private static final long MOST_DRIFT_ONE_IN = 1_000;
    private static final long WALL_GRAIN = TimeUnit.MILLISECONDS.toNanos(1);

    private final TimeSource time;
    private final AtomicReference<Look> last;

    /**
     * What was known at a moment.
     *
     * @param at that moment, by {@code nanoTime}
     * @param wallLead how far the wall clock was ahead of it
     * @param slept how long the machine has slept until then
     */
    private record Look(long at, long wallLead, long slept) {
        /**
         * What is known later.
         *
         * @param least how far the wall clock is ahead, at least
         * @param most at most
         */
        Look next(long now, long least, long most) {
            long ahead = least - wallLead;
            long drift = Math.max(0, (now - at) / MOST_DRIFT_ONE_IN);
            if (ahead - drift > SMALLEST_SLEEP) {
                return new Look(now, least, slept + ahead + Math.min(ahead, LARGEST_ERROR));
            }
            if (most < wallLead) {
                return new Look(now, most, slept);
            }
            return now - at < LARGEST_ERROR
                    ? this
                    : new Look(now, wallLead + Math.max(0, Math.min(ahead, drift)), slept);
        }
    }

    /** The same time, with the sleeps from now on. */
    public ElapsedTime(TimeSource time) {
        this.time = time;
        long now = time.nanoTime();
        this.last = new AtomicReference<>(new Look(now, TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - now, 0));
    }

    /** Stands still in a sleep. */
    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public long wallMillis() {
        return time.wallMillis();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        return time.schedule(task, delay);
    }

    /** How many nanoseconds the machine has slept, as far as is known. */
    public long slept() {
        while (true) {
            Look before = last.get();
            long from = time.nanoTime();
            long wall = TimeUnit.MILLISECONDS.toNanos(time.wallMillis());
            long to = time.nanoTime();
            Look now = before.next(to, wall - to, wall + WALL_GRAIN - from);
            if (now == before || last.compareAndSet(before, now)) {
                return now.slept;
            }
        }
    }

    /** This moment. */
    public Moment now() {
        long sleeps = slept(); // first: a sleep in between makes a moment older than it is, and not younger
        return new Moment(time.nanoTime(), sleeps);
    }

    /** How many nanoseconds ago a moment was, at most. */
    public long since(Moment moment) {
        return time.nanoTime() - asNanoTime(moment);
    }

    /** The {@code nanoTime} that lies as long ago as a moment does, at most: earlier for each sleep since. */
    public long asNanoTime(Moment moment) {
        return moment.nanoTime - (slept() - moment.slept);
    }

    /**
     * A moment.
     *
     * @param nanoTime then; the difference of two is the time that has passed between them, at least
     * @param slept how long the machine had slept until then, as far as is known
     */
    public record Moment(long nanoTime, long slept) {
        /** With all sleeps; the difference of two is the time that has passed between them, at most. */
        public long elapsed() {
            return nanoTime + slept;
        }

        /** One that was so many nanoseconds of {@code nanoTime} earlier. */
        public Moment minus(long nanos) {
            return new Moment(nanoTime - nanos, slept);
        }
    }
}
