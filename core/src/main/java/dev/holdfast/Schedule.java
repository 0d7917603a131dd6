package dev.holdfast;

import dev.holdfast.internal.Durations;
import java.time.Duration;
import java.time.Instant;

/**
 * Where one period of {@link Once} ends and the next begins.
 *
 * <pre>{@code
 * Schedule hourly = Schedule.every(Duration.ofHours(1));      // 03:00 to 04:00 UTC, 04:00 to 05:00 UTC, …
 * }</pre>
 *
 * <p>All programs that run the same work use the same schedule. It is asked with the store's time, never with that of the
 * client. Implementations are immutable and thread-safe.
 */
@FunctionalInterface
public interface Schedule {
    /**
     * The period that contains a moment. Every period begins where the one before it ended, and is 100 ms long at least;
     * both its ends are whole milliseconds.
     *
     * @param moment by the store's clock
     */
    Period periodAt(Instant moment);

    /**
     * From a moment until another.
     *
     * @param start when it begins
     * @param end when the next one begins
     */
    record Period(Instant start, Instant end) {
        /** A period. */
        public Period {
            if (!start.isBefore(end)) {
                throw new IllegalArgumentException("a period ends after it begins, not " + start + " to " + end);
            }
        }

        /** How long it is. */
        public Duration length() {
            return Duration.between(start, end);
        }

        /** Whether they have a moment in common. */
        boolean overlaps(Period other) {
            return start.isBefore(other.end) && other.start.isBefore(end);
        }

        @Override
        public String toString() {
            return start + " to " + end;
        }
    }

    /**
     * Periods of one length, counted from 1970-01-01T00:00Z: those of 10 minutes begin at full ten minutes.
     *
     * @param length 100 ms to 366 days, in whole milliseconds
     * @throws IllegalArgumentException if it is not
     */
    static Schedule every(Duration length) {
        return every(length, Duration.ZERO);
    }

    /**
     * Periods of one length, shifted: {@code every(ofDays(1), ofHours(3))} begin at 03:00 UTC.
     *
     * @param length 100 ms to 366 days, in whole milliseconds
     * @param offset how much later each begins than {@link #every(Duration)} says; not negative, less than the length
     * @throws IllegalArgumentException if they are not
     */
    static Schedule every(Duration length, Duration offset) {
        if (length.compareTo(Duration.ofMillis(100)) < 0
                || length.compareTo(Duration.ofDays(366)) > 0
                || length.toNanosPart() % 1_000_000 != 0) {
            throw new IllegalArgumentException(
                    "a period is 100ms to 366d in whole milliseconds, not " + Durations.text(length));
        }
        if (offset.isNegative() || offset.compareTo(length) >= 0) {
            throw new IllegalArgumentException("the offset of a period is 0s to less than its length of "
                    + Durations.text(length) + ", not " + Durations.text(offset));
        }
        long millis = length.toMillis();
        long shift = offset.toMillis();
        return moment -> {
            long start = Math.floorDiv(moment.toEpochMilli() - shift, millis) * millis + shift;
            return new Period(Instant.ofEpochMilli(start), Instant.ofEpochMilli(start + millis));
        };
    }
}
