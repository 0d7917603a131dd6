package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The machine's time, with one timer thread that exists while there is something to do. */
public final class SystemTime implements TimeSource, AutoCloseable {
    private static final long IDLE_SECONDS = 10;
    private final ScheduledThreadPoolExecutor timer;

    /** Time whose timer thread has this name. */
    public SystemTime(String threadName) {
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, threadName);
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
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
            ScheduledFuture<?> future = timer.schedule(task, Durations.nanos(delay), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        } catch (RejectedExecutionException closed) {
            return () -> {}; // after close nothing is due any more
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }
}
