package dev.holdfast.tck;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The machine's time as the kit gives it to stores, for tests that open a store without a client: {@link #nanoTime()} runs
 * seven hours behind {@link System#nanoTime()}, so that a store that stamps by the wrong one is found out. Has one thread
 * until it is closed. Thread-safe.
 */
public final class KitTime implements TimeSource, AutoCloseable {
    private static final long SHIFT = TimeUnit.HOURS.toNanos(-7);
    private final ScheduledThreadPoolExecutor timer;

    /** Starts the thread of its timer when the first task is planned. */
    public KitTime() {
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "kit-timer");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime() + SHIFT;
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    /** After it was closed, nothing is planned. */
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
