package dev.holdfast.sqlite;

import dev.holdfast.spi.TimeSource;
import java.util.function.LongSupplier;

/**
 * The two clocks at work. The file's is the machine's, since other processes read what it says ({@link BootClock}); the
 * client's stamps what is answered, and seeds grant numbers with its wall clock. Thread-safe.
 *
 * @param client the client's time
 * @param machineNanos the machine's monotonic clock
 */
record SqliteClock(TimeSource client, LongSupplier machineNanos) {
    /** Tokens are grant numbers times 1024: a wall clock gone wild must not use them up. It is the year 2112. */
    private static final long HIGHEST_SEED = Long.MAX_VALUE / 1024 / 2;

    /** The file's time: monotonic microseconds of the machine. */
    long micros() {
        return Math.floorDiv(machineNanos.getAsLong(), 1000L);
    }

    /** What stamps an answer: the client's time, read before the file's, so that a lease ends for its holder first. */
    long stamp() {
        return client.nanoTime();
    }

    /** What the next grant number must reach: above the floor, and above all numbers from before a lost counter. */
    long lowestNumber(long floor) {
        return Math.max(Math.addExact(floor, 1), Math.min(client.wallMillis() * 1000, HIGHEST_SEED));
    }
}
