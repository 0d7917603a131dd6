package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The machine's time, with one timer thread: there from the beginning, or while there is something to do. */
public final class SystemTime implements TimeSource, AutoCloseable {
    private static final long IDLE_SECONDS = 10;
    private final ScheduledThreadPoolExecutor timer;

    /** Time whose timer thread has this name, and exists while there is something to do. */
    public SystemTime(String threadName) {
        this(task -> DaemonThreads.daemon(threadName, task));
    }

    /** Time with the caller's threads; the factory may fail. */
    SystemTime(ThreadFactory threads) {
        timer = new ScheduledThreadPoolExecutor(1, threads);
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /**
     * Starts the thread, which stays until the close. Tasks that are planned later then need no new thread, which might
     * be unavailable in the middle of a lock's life.
     */
    SystemTime start() {
        timer.allowCoreThreadTimeOut(false);
        timer.prestartAllCoreThreads();
        return this;
    }

    /**
     * Waits, a little at a time, for what others are about to finish: until the condition holds, which is checked first, and
     * after each step. No interrupt ends the wait: the flag is cleared while the thread sleeps, since a thread whose flag is set
     * cannot sleep, and is set again afterwards.
     */
    static void awaitUninterrupted(BooleanSupplier condition, Duration step) {
        boolean interrupted = false;
        try {
            while (!condition.getAsBoolean()) {
                LockSupport.parkNanos(condition, step.toNanos());
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
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
