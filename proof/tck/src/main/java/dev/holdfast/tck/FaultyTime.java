package dev.holdfast.tck;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A {@link KitTime} that fails once, or whose wall clock jumps, when a test asks for it. Thread-safe. */
public final class FaultyTime implements TimeSource {
    private final KitTime time = new KitTime();
    private final AtomicReference<@Nullable Error> nextReading = new AtomicReference<>();
    private final AtomicReference<@Nullable Refused> nextTask = new AtomicReference<>();
    private final AtomicInteger planned = new AtomicInteger();
    private final AtomicLong longestDelay = new AtomicLong();
    private final AtomicLong wallAhead = new AtomicLong();

    /** Time without a fault. */
    public FaultyTime() {}

    private record Refused(Predicate<Duration> after, Error with) {}

    /** Moves the wall clock alone, as a process sees it after a sleep of its machine. */
    public void moveWallClock(Duration by) {
        wallAhead.addAndGet(by.toMillis());
    }

    /** The next reading of {@link #nanoTime()} throws this. */
    public void failNextReading(Error with) {
        nextReading.set(with);
    }

    /** The next task is not planned. */
    public void failNextTask(Error with) {
        failNextTask(delay -> true, with);
    }

    /** The next task with such a delay is not planned. */
    public void failNextTask(Predicate<Duration> after, Error with) {
        nextTask.set(new Refused(after, with));
    }

    /** Whether all that was asked for has failed. */
    public boolean hasFailed() {
        return nextReading.get() == null && nextTask.get() == null;
    }

    /** The longest delay of all tasks so far. */
    public Duration longestDelay() {
        return Duration.ofNanos(longestDelay.get());
    }

    /** Whether each task that was planned has begun. */
    public boolean isIdle() {
        return planned.get() == 0;
    }

    @Override
    public long nanoTime() {
        Error failure = nextReading.getAndSet(null);
        if (failure != null) {
            throw failure;
        }
        return time.nanoTime();
    }

    @Override
    public long wallMillis() {
        return time.wallMillis() + wallAhead.get();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        Refused refused = nextTask.get();
        if (refused != null && refused.after.test(delay) && nextTask.compareAndSet(refused, null)) {
            throw refused.with;
        }
        longestDelay.accumulateAndGet(delay.toNanos(), Math::max);
        planned.incrementAndGet();
        return time.schedule(
                () -> {
                    planned.decrementAndGet();
                    task.run();
                },
                delay);
    }
}
