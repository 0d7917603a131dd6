package dev.holdfast;

import static dev.holdfast.internal.Durations.text;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How often {@link Once} runs something, and what counts as done. Immutable; each method with an argument returns a
 * changed copy.
 *
 * <pre>{@code
 * OnceOptions hourly = OnceOptions.every(Duration.ofHours(1)).atMost(Duration.ofMinutes(20)).retryFailed(false);
 * }</pre>
 */
public final class OnceOptions {
    private static final Duration LONGEST_EARLY = Duration.ofMinutes(1);
    private static final int EARLY_PART = 10;
    private static final Duration LONGEST_KEEP = Duration.ofDays(366);
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final OnceOptions DEFAULTS = new OnceOptions(new Values());

    private final Values values;

    private OnceOptions(Values values) {
        this.values = values;
    }

    /** Once for a key, which is remembered for 24 hours. */
    public static OnceOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Once for a key: the name is the key, and the run is remembered for a time from its end on.
     *
     * @param keep 100 ms to 366 days
     * @throws IllegalArgumentException if it is not
     */
    public static OnceOptions keptFor(Duration keep) {
        require(keep, SHORTEST, LONGEST_KEEP, "the time for which a key is kept");
        return DEFAULTS.with(changed -> changed.keep = keep);
    }

    /**
     * Once in each period of this length.
     *
     * @param period as {@link Schedule#every(Duration)}
     * @throws IllegalArgumentException if it is not
     */
    public static OnceOptions every(Duration period) {
        return on(Schedule.every(period));
    }

    /** Once in each period of a schedule. */
    public static OnceOptions on(Schedule schedule) {
        return DEFAULTS.with(changed -> changed.schedule = schedule);
    }

    /** How long a key is kept; not used for periods. */
    public Duration keep() {
        return values.keep;
    }

    /** The periods; empty if it runs once for a key. */
    public Optional<Schedule> schedule() {
        return Optional.ofNullable(values.schedule);
    }

    /**
     * How long before the end of a period a caller already counts for the next one, so that a server whose clock is a
     * little fast runs what is due. Empty unless set: a tenth of the period, a minute at most.
     */
    public Optional<Duration> early() {
        return Optional.ofNullable(values.early);
    }

    /**
     * With another {@link #early() tolerance} for fast clocks.
     *
     * @param value not negative; less than the periods are long, or {@link Once#run} throws
     * @throws IllegalArgumentException if it is negative, or longer than 366 days
     */
    public OnceOptions early(Duration value) {
        require(value, Duration.ZERO, LONGEST_KEEP, "the tolerance for fast clocks");
        return with(changed -> changed.early = value);
    }

    /** No run begins earlier than this after the beginning of the last, however that one ended; zero unless set. */
    public Duration atLeast() {
        return values.atLeast;
    }

    /**
     * With another {@link #atLeast() shortest distance} of runs.
     *
     * @param value 0 to 366 days
     * @throws IllegalArgumentException if it is not
     */
    public OnceOptions atLeast(Duration value) {
        require(value, Duration.ZERO, LONGEST_KEEP, "the shortest distance of runs");
        return with(changed -> changed.atLeast = value);
    }

    /**
     * How long a run may take before its lock is no longer renewed and another may run; no limit unless set. See
     * {@link Once} for work that takes longer.
     */
    public Optional<Duration> atMost() {
        return Optional.ofNullable(values.atMost);
    }

    /**
     * With a {@link #atMost() longest run}.
     *
     * @param value 100 ms to 366 days
     * @throws IllegalArgumentException if it is not
     */
    public OnceOptions atMost(Duration value) {
        require(value, SHORTEST, LONGEST_KEEP, "the longest run");
        return with(changed -> changed.atMost = value);
    }

    /** How long after the death of a running process another may run; 30 s unless set. */
    public Duration lease() {
        return values.lease;
    }

    /**
     * With another {@link #lease() lease}.
     *
     * @param value as {@link HoldOptions#lease(Duration)}
     * @throws IllegalArgumentException if it is not
     */
    public OnceOptions lease(Duration value) {
        HoldOptions.defaults().lease(value); // checks it
        return with(changed -> changed.lease = value);
    }

    /** Whether work that threw is run again at the next call within the same period; on unless set. */
    public boolean retryFailed() {
        return values.retryFailed;
    }

    /** With failed work {@link #retryFailed() run again}, or not. */
    public OnceOptions retryFailed(boolean value) {
        return with(changed -> changed.retryFailed = value);
    }

    /**
     * Whether work whose process died, or that lost its lock, is run again at the next call within the same period; on
     * unless set. Off, nothing is begun twice in a period: for work that must not be repeated, even half done.
     */
    public boolean retryCrashed() {
        return values.retryCrashed;
    }

    /** With interrupted work {@link #retryCrashed() run again}, or not. */
    public OnceOptions retryCrashed(boolean value) {
        return with(changed -> changed.retryCrashed = value);
    }

    /**
     * Whether missed periods are made up for, the oldest first, one at each call; off unless set.
     * Periods before the first run, and those older than a week, are never made up for.
     */
    public boolean makeUp() {
        return values.makeUp;
    }

    /** With missed periods {@link #makeUp() made up for}, or not. */
    public OnceOptions makeUp(boolean value) {
        return with(changed -> changed.makeUp = value);
    }

    /** How its lock is held. */
    HoldOptions hold() {
        HoldOptions hold = HoldOptions.defaults().lease(values.lease).awaitRelease(true);
        return values.atMost == null ? hold : hold.maxHold(values.atMost);
    }

    /** The period to which a call at this moment belongs; empty if it runs once for a key. */
    Optional<Schedule.Period> periodAt(Instant now) {
        Schedule schedule = values.schedule;
        if (schedule == null) {
            return Optional.empty();
        }
        Schedule.Period period = checked(schedule, now);
        Duration tenth = period.length().dividedBy(EARLY_PART);
        Duration usual = tenth.compareTo(LONGEST_EARLY) > 0 ? LONGEST_EARLY : tenth;
        Duration tolerance = early().orElse(usual);
        if (tolerance.compareTo(period.length()) >= 0) {
            throw new IllegalStateException("the tolerance for fast clocks, " + text(tolerance)
                    + ", is as long as the period " + period + " or longer; make it shorter");
        }
        boolean isEarly = !now.isBefore(period.end().minus(tolerance));
        return Optional.of(isEarly ? checked(schedule, period.end()) : period);
    }

    /** The period that contains a moment; a record has its limits in whole milliseconds. */
    static Schedule.Period checked(Schedule schedule, Instant moment) {
        Schedule.Period period = schedule.periodAt(moment);
        if (period.length().compareTo(SHORTEST) < 0 || !isWholeMillis(period.start()) || !isWholeMillis(period.end())) {
            throw new IllegalStateException("the schedule has the period " + period
                    + ", and periods are " + text(SHORTEST)
                    + " long at least, in whole milliseconds; correct the schedule");
        }
        if (moment.isBefore(period.start()) || !moment.isBefore(period.end())) {
            throw new IllegalStateException("the schedule says that " + moment + " is in the period " + period
                    + ", which it is not; correct the schedule");
        }
        return period;
    }

    private static boolean isWholeMillis(Instant moment) {
        return moment.equals(moment.truncatedTo(ChronoUnit.MILLIS));
    }

    @Override
    public String toString() {
        return "OnceOptions["
                + (values.schedule == null ? "keptFor=" + text(values.keep) : "schedule=" + values.schedule)
                + ", early=" + early().map(value -> text(value)).orElse("a tenth")
                + ", atLeast=" + text(values.atLeast)
                + ", atMost=" + atMost().map(value -> text(value)).orElse("none")
                + ", lease=" + text(values.lease)
                + ", retryFailed=" + values.retryFailed
                + ", retryCrashed=" + values.retryCrashed
                + ", makeUp=" + values.makeUp + "]";
    }

    private OnceOptions with(Consumer<Values> change) {
        Values changed = new Values(values);
        change.accept(changed);
        return new OnceOptions(changed);
    }

    private static void require(Duration value, Duration least, Duration most, String what) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                    what + " must be " + text(least) + " to " + text(most) + ", not " + text(value));
        }
    }

    /** All options; changed only while they are copied, before any other code sees them. */
    private static final class Values {
        @Nullable
        Schedule schedule;

        @Nullable
        Duration early;

        @Nullable
        Duration atMost;

        Duration keep = Duration.ofDays(1);
        Duration atLeast = Duration.ZERO;
        Duration lease = HoldOptions.defaults().lease();
        boolean retryFailed = true;
        boolean retryCrashed = true;
        boolean makeUp;

        Values() {}

        Values(Values other) {
            schedule = other.schedule;
            early = other.early;
            atMost = other.atMost;
            keep = other.keep;
            atLeast = other.atLeast;
            lease = other.lease;
            retryFailed = other.retryFailed;
            retryCrashed = other.retryCrashed;
            makeUp = other.makeUp;
        }
    }
}
