package dev.holdfast.spi;

import java.time.Duration;

/**
 * The one source of time of a client and its store, so that tests can replace it.
 *
 * <p>Thread-safe. {@link dev.holdfast.memory.ManualTime} is one that moves only on demand.
 */
public interface TimeSource {

    /** Elapsed time as {@link System#nanoTime()}: deadlines are compared by difference, never by order. */
    long nanoTime();

    /**
     * Milliseconds since the epoch. Decides no validity: it serves people, the seed of a store's counter, and to notice
     * that the machine slept (the wall clock then runs ahead of {@link #nanoTime()}).
     */
    long wallMillis();

    /**
     * Runs a short task that never blocks, once, after a delay.
     *
     * @return a handle that calls it off; calling it off late does nothing
     */
    Scheduled schedule(Runnable task, Duration delay);

    /** A task that was scheduled. */
    @FunctionalInterface
    interface Scheduled {
        /** Calls the task off if it has not begun. */
        void cancel();
    }
}
