package dev.holdfast.memcached;

import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The system's time, for parts of the store without a client. */
final class PlainTime implements TimeSource {
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
        Future<?> later = CompletableFuture.runAsync(
                task, CompletableFuture.delayedExecutor(delay.toNanos(), TimeUnit.NANOSECONDS));
        return () -> later.cancel(false);
    }
}
