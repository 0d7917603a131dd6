package dev.holdfast.spi.support;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** How long to pause, with some chance in it, so that clients that began together do not go on together. Thread-safe. */
public final class Pauses {
    private static final long FIRST_RETRY = Duration.ofMillis(50).toNanos();
    private static final int MOST_DOUBLINGS = 4;

    private Pauses() {}

    /**
     * In nanoseconds, before a request without an answer is repeated: 25 to 50 ms at first, up to 0.8 s later.
     *
     * @param before how often it failed before
     */
    public static long beforeRetry(int before) {
        long longest = FIRST_RETRY << Math.min(before, MOST_DOUBLINGS);
        return ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
    }

    /** A quarter more or less than so many nanoseconds, at most. */
    public static long jittered(long nanos) {
        return ThreadLocalRandom.current().nextLong(nanos * 3 / 4, nanos * 5 / 4 + 1);
    }
}
