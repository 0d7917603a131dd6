package dev.holdfast.redis;

import dev.holdfast.spi.TimeSource;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * One page of a server's keys. Without a connection it is not asked for yet: Lettuce would keep the request, awaited or
 * not.
 */
final class KeyScan {
    private static final Duration AGAIN = Duration.ofMillis(20);

    private final ScriptPipeline pipeline;
    private final TimeSource time;
    private final ScanCursor from;
    private final ScanArgs args;
    private final long until;
    private final CompletableFuture<KeyScanCursor<byte[]>> page = new CompletableFuture<>();

    KeyScan(ScriptPipeline pipeline, TimeSource time, Duration timeout, ScanCursor from, ScanArgs args) {
        this.pipeline = pipeline;
        this.time = time;
        this.from = from;
        this.args = args;
        this.until = time.nanoTime() + timeout.toNanos();
    }

    CompletableFuture<KeyScanCursor<byte[]>> start() {
        Duration left = Duration.ofNanos(until - time.nanoTime());
        if (pipeline.end().hasCome()) {
            page.completeExceptionally(pipeline.end().why());
        } else if (left.isNegative()) {
            page.completeExceptionally(pipeline.late().failure());
        } else if (pipeline.isConnected()) {
            ask(left);
        } else {
            pipeline.late().schedule(this::start, AGAIN, page);
        }
        return page;
    }

    private void ask(Duration left) {
        var asked = pipeline.connection().async().scan(from, args);
        LateCalls late = pipeline.late();
        var end = late.schedule(
                () -> {
                    page.completeExceptionally(late.failure());
                    asked.toCompletableFuture().cancel(false);
                },
                left,
                page);
        asked.whenComplete((keys, failure) -> {
            end.cancel();
            if (failure == null) {
                page.complete(keys);
            } else {
                page.completeExceptionally(pipeline.errors().of(failure));
            }
        });
    }
}
