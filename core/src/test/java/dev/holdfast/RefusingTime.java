package dev.holdfast;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A clock whose timer gets no thread, so many times. The Error is one that a test survives, unlike the JDK's own. */
final class RefusingTime extends ForwardedTime {
    private final AtomicInteger refusals = new AtomicInteger();

    RefusingTime(TimeSource time) {
        super(time);
    }

    /** From now on it refuses so many tasks. */
    void refuse(int tasks) {
        refusals.set(tasks);
    }

    boolean hasRefused() {
        return refusals.get() == 0;
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        if (refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new InternalError("no thread to be had");
        }
        return super.schedule(task, delay);
    }
}
