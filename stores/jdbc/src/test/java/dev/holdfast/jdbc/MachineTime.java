package dev.holdfast.jdbc;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The machine's time, with one timer thread for all tests, for stores that are opened without a client. */
final class MachineTime implements TimeSource {
    static final TimeSource INSTANCE = new MachineTime();

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "test-timer");
        thread.setDaemon(true);
        return thread;
    });

    private MachineTime() {}

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
        Future<?> planned = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
        return () -> planned.cancel(false);
    }
}
