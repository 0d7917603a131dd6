package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The time of a client, which is not the machine's: hours off, so that mixing them up is found out, at a rate of its own,
 * and with a wall clock that somebody sets. Thread-safe.
 */
final class FuzzTime implements TimeSource, AutoCloseable {
    private static final double SLOWEST = 0.99;

    private final ScheduledThreadPoolExecutor timer;
    private final long begun = System.nanoTime();
    private final long shift;
    private final double rate;

    FuzzTime(Duration shift, double rate) {
        this.shift = shift.toNanos();
        this.rate = rate;
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "fuzz-timer");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return begun + shift + (long) ((System.nanoTime() - begun) * rate);
    }

    /** A moment of this time on the machine's. */
    long real(long nanos) {
        return begun + (long) ((nanos - begun - shift) / rate);
    }

    /** Whether the margin of the leases covers how slow it is. */
    boolean isCovered() {
        return rate >= SLOWEST;
    }

    /** How much of it passes in one second. */
    double rate() {
        return rate;
    }

    /** The wall clock is wrong, and is set an hour forward and back some times a second, which must not matter. */
    @Override
    public long wallMillis() {
        long now = System.currentTimeMillis();
        return now + TimeUnit.NANOSECONDS.toMillis(shift) + ((now >> 8) % 2) * TimeUnit.HOURS.toMillis(1);
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        try {
            ScheduledFuture<?> future = timer.schedule(task, (long) (delay.toNanos() / rate), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
