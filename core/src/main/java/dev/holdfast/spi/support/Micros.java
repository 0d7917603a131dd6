package dev.holdfast.spi.support;

import java.time.Duration;

/** Durations as a store of whole microseconds counts them. Thread-safe. */
public final class Micros {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Micros() {}

    /**
     * A duration in microseconds, rounded up: a lease is never shorter in the store than its holder believes. A hundred
     * years at most.
     */
    public static long of(Duration duration) {
        long nanos = (duration.compareTo(LONGEST) < 0 ? duration : LONGEST).toNanos();
        return Math.floorDiv(nanos + 999, 1000L);
    }
}
