package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.PlannedTask;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;

/**
 * The calls of a pipeline that get no answer: each fails after the timeout. A connection on which nothing was answered
 * for that long, or a WAIT was not, is ended, and Lettuce makes it again. Checks only while some call has no answer.
 * Thread-safe.
 */
final class LateCalls {
    private final ScriptPipeline pipeline;
    private final Outbox outbox;
    private final Set<ScriptCall> inFlight;
    private final Packets packets;
    private final TimeSource time;
    private final Duration timeout;
    private final PlannedTask check;

    LateCalls(
            ScriptPipeline pipeline,
            Outbox outbox,
            Set<ScriptCall> inFlight,
            Packets packets,
            TimeSource time,
            Duration timeout) {
        this.pipeline = pipeline;
        this.outbox = outbox;
        this.inFlight = inFlight;
        this.packets = packets;
        this.time = time;
        this.timeout = timeout;
        this.check = new PlannedTask(time, this::failLate);
    }

    /** Checks after a quarter of the timeout, and again as long as calls have no answer. */
    void watch() {
        try {
            check.within(timeout.dividedBy(4));
        } catch (IllegalStateException | RejectedExecutionException stopped) {
            pipeline.failAll();
        }
    }

    /**
     * Runs a task later. The owner of a lent client may have stopped its timer: then every wait ends.
     *
     * @param awaited fails if the task will never run
     */
    TimeSource.Scheduled schedule(Runnable task, Duration delay, CompletableFuture<?> awaited) {
        try {
            return time.schedule(task, delay);
        } catch (IllegalStateException | RejectedExecutionException stopped) {
            awaited.completeExceptionally(pipeline.failAll());
            return () -> {};
        }
    }

    private void failLate() {
        try {
            long now = time.nanoTime();
            long lastAnswer = pipeline.lastAnswer();
            // one that was just answered is not late, and says nothing of the connection
            Predicate<ScriptCall> late = call -> !call.isDone() && isLate(call, now);
            boolean silent = inFlight.stream().anyMatch(call -> late.test(call) && lastAnswer - call.askedNanos() < 0)
                    || packets.isUnconfirmedSince(now - timeout.toNanos());
            Outbox.fail(inFlight, late, failure());
            if (!outbox.isEmpty()) {
                outbox.fail(late, failure());
            }
            if (silent) {
                LettuceConnection.disconnect(pipeline.connection());
            }
        } finally { // an Error, such as of memory, ends this check alone
            if (!inFlight.isEmpty() || !outbox.isEmpty() || packets.isUnconfirmed()) {
                watch();
            }
        }
    }

    boolean isLate(ScriptCall call, long now) {
        return now - call.askedNanos() >= timeout.toNanos();
    }

    /** The failure of a call without an answer. */
    RuntimeException failure() {
        return new StoreUnavailableException(
                "no answer from " + pipeline.errors().store() + " within " + timeout.toMillis()
                        + " ms: it is down, busy, or cannot be reached");
    }
}
