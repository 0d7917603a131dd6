package dev.holdfast.sqlite;

import dev.holdfast.spi.TimeSource;
import java.util.function.LongSupplier;

/**
 * The two clocks in use. The file's clock is the machine's, since other processes read its times ({@link BootClock}). The
 * client's clock stamps answers, and its wall clock seeds grant numbers. Thread-safe.
 *
 * @param client the client's time
 * @param machineNanos the machine's monotonic clock
 */
record SqliteClock(TimeSource client, LongSupplier machineNanos) {
    /** Tokens are grant numbers times 1024: a wrong wall clock must not use them up. The limit is the year 2112. */
    private static final long HIGHEST_SEED = Long.MAX_VALUE / 1024 / 2;

    /** The file's time: monotonic microseconds of the machine. */
    long micros() {
        return Math.floorDiv(machineNanos.getAsLong(), 1000L);
    }

    /** The stamp of an answer: the client's time, read before the file's, so that a lease ends for its holder first. */
    long stamp() {
        return client.nanoTime();
    }

    /** The least next grant number: above the floor, and above all numbers given before a counter was lost. */
    long lowestNumber(long floor) {
        return Math.max(Math.addExact(floor, 1), Math.min(client.wallMillis() * 1000, HIGHEST_SEED));
    }
}
