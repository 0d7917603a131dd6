package dev.holdfast.sim;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;

/** The server's time: its own timers end leases, too, and what came of that is noted after each. */
record Afterword(TimeSource plain, Runnable afterwards) implements TimeSource {
    @Override
    public long nanoTime() {
        return plain.nanoTime();
    }

    @Override
    public long wallMillis() {
        return plain.wallMillis();
    }

    @Override
    public Scheduled schedule(Runnable task, Duration delay) {
        return plain.schedule(
                () -> {
                    task.run();
                    afterwards.run();
                },
                delay);
    }
}
