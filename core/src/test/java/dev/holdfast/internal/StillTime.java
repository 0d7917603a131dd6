package dev.holdfast.internal;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/** Time that stands still and runs nothing: what is left are the interleavings. */
final class StillTime implements TimeSource {
    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public long wallMillis() {
        return 0;
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        return () -> {};
    }
}
