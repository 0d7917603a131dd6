package dev.holdfast;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/** A clock that is another one, but for what a test changes. */
abstract class ForwardedTime implements TimeSource {
    final TimeSource time;

    ForwardedTime(TimeSource time) {
        this.time = time;
    }

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public long wallMillis() {
        return time.wallMillis();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        return time.schedule(task, delay);
    }
}
