package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The time of a client, which is not the machine's: hours off, so that mixing them up is found out. Thread-safe. */
final class FuzzTime implements TimeSource, AutoCloseable {
    private final ScheduledThreadPoolExecutor timer;
    private final long shift;

    FuzzTime(Duration shift) {
        this.shift = shift.toNanos();
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "fuzz-timer");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime() + shift;
    }

    /** A moment of this time on the machine's. */
    long real(long nanos) {
        return nanos - shift;
    }

    /** The client's wall clock is wrong, which must not matter. */
    @Override
    public long wallMillis() {
        return System.currentTimeMillis() + TimeUnit.NANOSECONDS.toMillis(shift);
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        try {
            ScheduledFuture<?> future = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
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
