package dev.holdfast.spi.support;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A source of time that also knows how long the machine has slept.
 *
 * <p>{@code nanoTime} stands still while the machine sleeps; the wall clock does not. If the wall clock has gained on
 * {@code nanoTime} since the last reading, the machine has slept that long. A wall clock that was set forward looks the
 * same: a proof then seems older than it is, until it is renewed. So {@link Moment#elapsed} measures ages, which must not
 * be too small, and {@code nanoTime} measures times that must have passed. Setting the wall clock back makes nothing
 * younger and hides no later sleep. Two things are not counted as a sleep: drift of the two clocks by less than a
 * thousandth, and a thread that was paused between two readings, which a second reading of {@code nanoTime} shows.
 *
 * <p>After a sleep, some machines restore the wall clock from one of whole seconds, so up to one second more is counted.
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

    private static final long DRIFT_INTERVAL = Duration.ofSeconds(1).toNanos();
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
            return now - at < DRIFT_INTERVAL
                    ? this
                    : new Look(now, wallLead + Math.max(0, Math.min(ahead, drift)), slept);
        }
    }

    /** The same time, with the sleeps from now on; itself if it counts them already, as an engine's does. */
    public static ElapsedTime of(TimeSource time) {
        return time instanceof ElapsedTime known ? known : new ElapsedTime(time);
    }

    private ElapsedTime(TimeSource time) {
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

    /** An upper bound of a moment's age, in nanoseconds. */
    public long since(Moment moment) {
        return time.nanoTime() - asNanoTime(moment);
    }

    /** A moment as a {@code nanoTime}, moved back by each sleep since, so that its age is never too small. */
    public long asNanoTime(Moment moment) {
        return moment.nanoTime - (slept() - moment.slept);
    }

    /**
     * A moment.
     *
     * @param nanoTime then: the difference of two is never more than the time between them
     * @param slept how long the machine had slept until then, as far as is known
     */
    public record Moment(long nanoTime, long slept) {
        /** With all sleeps: the difference of two is never less than the time between them. */
        public long elapsed() {
            return nanoTime + slept;
        }

        /** One that was so many nanoseconds of {@code nanoTime} earlier. */
        public Moment minus(long nanos) {
            return new Moment(nanoTime - nanos, slept);
        }
    }
}
