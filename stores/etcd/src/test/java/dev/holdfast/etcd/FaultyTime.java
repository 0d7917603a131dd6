package dev.holdfast.etcd;

import dev.holdfast.spi.TimeSource;
import dev.holdfast.tck.KitTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The system's time, which fails once, or whose wall clock goes on alone, when a test says so. */
final class FaultyTime implements TimeSource {
    private final TimeSource time = new KitTime();
    private final AtomicReference<@Nullable Error> nextReading = new AtomicReference<>();
    private final AtomicReference<@Nullable Error> nextTask = new AtomicReference<>();

    private final AtomicLong longestDelay = new AtomicLong();
    private final AtomicLong wallAhead = new AtomicLong();

    /** Of all tasks so far. */
    Duration longestDelay() {
        return Duration.ofNanos(longestDelay.get());
    }

    /** What a process sees of a sleep of its machine, or of a wall clock that is set forward. */
    void moveWallClock(Duration by) {
        wallAhead.addAndGet(by.toMillis());
    }

    void failNextReading(Error with) {
        nextReading.set(with);
    }

    void failNextTask(Error with) {
        nextTask.set(with);
    }

    boolean hasFailed() {
        return nextReading.get() == null && nextTask.get() == null;
    }

    @Override
    public long nanoTime() {
        fail(nextReading);
        return time.nanoTime();
    }

    @Override
    public long wallMillis() {
        return time.wallMillis() + wallAhead.get();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        fail(nextTask);
        longestDelay.accumulateAndGet(delay.toNanos(), Math::max);
        return time.schedule(task, delay);
    }

    private static void fail(AtomicReference<@Nullable Error> next) {
        Error failure = next.getAndSet(null);
        if (failure != null) {
            throw failure;
        }
    }
}
