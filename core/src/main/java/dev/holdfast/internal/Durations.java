package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Durations as nanoseconds, for differences of {@link System#nanoTime()}, and as people write them. */
public final class Durations {
    /** The largest first. */
    private static final List<Map.Entry<ChronoUnit, String>> UNITS = List.of(
            Map.entry(ChronoUnit.DAYS, "d"),
            Map.entry(ChronoUnit.HOURS, "h"),
            Map.entry(ChronoUnit.MINUTES, "m"),
            Map.entry(ChronoUnit.SECONDS, "s"),
            Map.entry(ChronoUnit.MILLIS, "ms"),
            Map.entry(ChronoUnit.MICROS, "us"),
            Map.entry(ChronoUnit.NANOS, "ns"));

    private Durations() {}

    /** In the largest unit that leaves no rest: {@code 7d}, {@code 30s}, {@code 1500ms}. */
    public static String text(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        for (Map.Entry<ChronoUnit, String> unit : UNITS) {
            Duration one = unit.getKey().getDuration();
            if (isMultiple(duration, one)) {
                return duration.dividedBy(one) + unit.getValue();
            }
        }
        return duration.toString(); // more than a long counts in the unit it needs
    }

    /** Throws if a time to wait is negative; null is for ever. */
    public static void checkWait(@Nullable Duration wait) {
        if (wait != null && wait.isNegative()) {
            throw new IllegalArgumentException("the wait must not be negative: " + text(wait));
        }
    }

    /** What is left of a wait that began then, by {@code nanoTime}; never negative. */
    static Duration left(Duration wait, long since, TimeSource time) {
        Duration left = wait.minusNanos(time.nanoTime() - since);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private static boolean isMultiple(Duration duration, Duration one) {
        try {
            return one.multipliedBy(duration.dividedBy(one)).equals(duration);
        } catch (ArithmeticException tooMany) {
            return false;
        }
    }

    /** Nanoseconds, at most {@link Long#MAX_VALUE}: 292 years, which is for ever. */
    public static long nanos(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException tooLong) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }
}
