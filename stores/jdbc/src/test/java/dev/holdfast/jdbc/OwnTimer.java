package dev.holdfast.jdbc;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The system's time, with one thread as timer, for a store that a test opens without a client. Thread-safe. */
final class OwnTimer implements TimeSource, AutoCloseable {
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "holdfast-jdbc-test-timer");
        thread.setDaemon(true);
        return thread;
    });

    OwnTimer() {
        timer.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        try {
            Future<?> scheduled = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> scheduled.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {};
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
