package dev.holdfast.internal;

import java.time.Duration;

/** Durations as nanoseconds, for differences of {@link System#nanoTime()}. */
final class Durations {
    private Durations() {}

    /** Nanoseconds, at most {@link Long#MAX_VALUE}: 292 years, which is for ever. */
    static long nanos(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException tooLong) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }
}
