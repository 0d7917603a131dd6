package dev.holdfast;

import dev.holdfast.spi.TimeSource;
import java.util.concurrent.atomic.AtomicInteger;

/** A clock that fails when it is read, as anything may where memory ends. The Error is one that a test survives. */
final class ErringTime extends ForwardedTime {
    private final AtomicInteger left = new AtomicInteger();
    private volatile int failures;

    ErringTime(TimeSource time) {
        super(time);
    }

    /** From now on so many readings succeed, and as many as stated fail after them. */
    void failAfter(int readings, int times) {
        left.set(readings + times);
        failures = times;
    }

    /** Whether all that were to fail have failed. */
    boolean hasFailed() {
        return left.get() <= 0;
    }

    void stop() {
        failures = 0;
    }

    @Override
    public long nanoTime() {
        if (failures > 0) {
            int now = left.getAndDecrement();
            if (now > 0 && now <= failures) {
                throw new InternalError("no memory to be had");
            }
        }
        return super.nanoTime();
    }
}
