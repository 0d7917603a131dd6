package dev.holdfast;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long a candidate stays out of line after failures in a row: a second, twice as long each time, a minute at most.
 * Thread-safe.
 */
final class Pause {
    static final Duration SHORTEST = Duration.ofSeconds(1);
    static final Duration LONGEST = Duration.ofMinutes(1);
    private static final int MOST_DOUBLINGS = 6;

    private final AtomicInteger failures = new AtomicInteger();

    /** The pause after one more failure. */
    Duration afterFailure() {
        int before = Math.min(failures.getAndIncrement(), MOST_DOUBLINGS);
        Duration doubled = SHORTEST.multipliedBy(1L << before);
        return doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
    }

    /** After a success, the next failure counts as the first. */
    void reset() {
        failures.set(0);
    }
}
