package dev.holdfast.internal;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A release or a withdrawal that the store did not confirm, and that is sent until it does.
 *
 * <p>It is sent again after a quarter of a second, because a server that was restarted is often back within a second, and
 * then after waits that double, up to a third of the lease. So what it ends is gone soon after an outage: at most about as
 * long after it as it lasted, and the time-out of one request more. A wait is at least as long as the request before it
 * took: a request that waits in the store, for a row that somebody has locked, keeps its connection busy for half of the
 * time at most.
 *
 * <p>The end of the lease is the end of this, since it ends the grant as well. A session may live on: there it goes on, but
 * for a refusal, which is an answer and lasts. Thread-safe.
 */
final class RepeatedRequest {
    private static final Duration FIRST_WAIT = Duration.ofMillis(250);

    private final TimeSource time;
    private final Supplier<CompletionStage<Boolean>> request;
    private final BooleanSupplier stopped;
    private final boolean ofSession;
    private final long lease;
    private final long begin;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    /** The present wait; null while a request is under way. Whoever takes it out sends the request. */
    private final AtomicReference<@Nullable Object> waiting = new AtomicReference<>();
    /** The length of a wait, in nanoseconds. Changed while a request is under way alone. */
    private long wait;

    private RepeatedRequest(
            TimeSource time,
            Supplier<CompletionStage<Boolean>> request,
            BooleanSupplier stopped,
            boolean ofSession,
            Duration lease) {
        this.time = time;
        this.request = request;
        this.stopped = stopped;
        this.ofSession = ofSession;
        this.lease = Durations.nanos(lease);
        this.begin = time.nanoTime();
        this.wait = Math.min(FIRST_WAIT.toNanos(), longestWait());
    }

    /** Sends a request again that has failed just now, until the client is closed at the latest. */
    static RepeatedRequest begin(
            TimeSource time,
            Supplier<CompletionStage<Boolean>> request,
            BooleanSupplier closed,
            boolean ofSession,
            Duration lease) {
        RepeatedRequest repeated = new RepeatedRequest(time, request, closed, ofSession, lease);
        repeated.plan();
        return repeated;
    }

    /** Completes when it is not sent any more. */
    CompletableFuture<Void> over() {
        return over;
    }

    /** Ends the wait: it is sent at once, before what follows on this thread. */
    void sendNow() {
        if (waiting.getAndSet(null) != null) {
            send(wait);
        }
    }

    private void plan() {
        Object present = new Object();
        Duration length = Duration.ofNanos(wait);
        waiting.set(present);
        time.schedule(
                () -> {
                    if (waiting.compareAndSet(present, null)) {
                        send(Math.min(2 * wait, longestWait()));
                    }
                },
                length);
    }

    private void send(long nextWait) {
        if (stopped.getAsBoolean() || (!ofSession && isLeaseOver())) {
            over.complete(null);
            return;
        }
        long sent = time.nanoTime();
        ReleaseSender.guarded(request).whenComplete((answer, failure) -> {
            if (failure == null || (isLeaseOver() && Failures.cause(failure) instanceof StoreRefusedException)) {
                over.complete(null);
            } else {
                wait = Math.max(nextWait, time.nanoTime() - sent);
                plan();
            }
        });
    }

    private boolean isLeaseOver() {
        return time.nanoTime() - begin >= lease;
    }

    private long longestWait() {
        return lease / 3;
    }
}
