package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
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
    /** What is refused so often in a row is given up when the client is being closed. */
    private static final int REFUSALS = 3;

    private final TimeSource time;
    private final Supplier<CompletionStage<Boolean>> request;
    private final BooleanSupplier stopped;
    private final boolean ofSession;
    private final long lease;
    private final long begin;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    /** The present wait; null while a request is under way. Whoever takes it out sends the request. */
    private final AtomicReference<@Nullable Wait> waiting = new AtomicReference<>();

    private volatile boolean hurried;
    /** In a row. Changed while a request is under way alone. */
    private int refusals;

    /** A wait for so many nanoseconds, after a request that took so many and failed at this time. */
    private static final class Wait {
        final long length;
        final long took;
        final long since;
        volatile @Nullable Scheduled timer;

        Wait(long length, long took, long since) {
            this.length = length;
            this.took = took;
            this.since = since;
        }
    }

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
    }

    /** Sends a request again that was sent then and has failed just now, until the client is closed at the latest. */
    static RepeatedRequest begin(
            TimeSource time,
            Supplier<CompletionStage<Boolean>> request,
            BooleanSupplier closed,
            boolean ofSession,
            Duration lease,
            long sent) {
        RepeatedRequest repeated = new RepeatedRequest(time, request, closed, ofSession, lease);
        long took = time.nanoTime() - sent;
        repeated.await(Math.max(Math.min(FIRST_WAIT.toNanos(), repeated.longestWait()), took), took);
        return repeated;
    }

    /** Completes when it is not sent any more. */
    CompletableFuture<Void> over() {
        return over;
    }

    /** Sends it at once, before what follows on this thread; not again within the time that it took to fail. */
    void sendNow() {
        Wait present = waiting.get();
        if (present != null && time.nanoTime() - present.since >= present.took) {
            end(present, present.length);
        }
    }

    /** Sends it at once, and from now on after short waits: the client is being closed. */
    void hurry() {
        hurried = true;
        Wait present = waiting.get();
        if (present != null) {
            end(present, longestWait());
        }
    }

    private void await(long length, long took) {
        Wait present = new Wait(length, took, time.nanoTime());
        waiting.set(present);
        present.timer =
                time.schedule(() -> end(present, Math.min(2 * length, longestWait())), Duration.ofNanos(length));
        if (hurried && length > longestWait()) { // the hurry began in this moment
            end(present, longestWait());
        }
    }

    private void end(Wait present, long nextLength) {
        if (waiting.compareAndSet(present, null)) {
            Scheduled timer = present.timer;
            if (timer != null) {
                timer.cancel();
            }
            send(nextLength);
        }
    }

    private void send(long nextLength) {
        if (stopped.getAsBoolean() || (!ofSession && isLeaseOver())) {
            over.complete(null);
            return;
        }
        long sent = time.nanoTime();
        ReleaseSender.guarded(request).whenComplete((answer, failure) -> {
            if (failure == null || isFinal(Failures.cause(failure))) {
                over.complete(null);
            } else {
                long took = time.nanoTime() - sent;
                await(hurried ? longestWait() : Math.max(nextLength, took), took);
            }
        });
    }

    private boolean isFinal(Throwable failure) {
        refusals = failure instanceof StoreRefusedException ? refusals + 1 : 0;
        return failure instanceof ClientClosedException
                || (refusals > 0 && isLeaseOver())
                || (refusals >= REFUSALS && hurried);
    }

    private boolean isLeaseOver() {
        return time.nanoTime() - begin >= lease;
    }

    private long longestWait() {
        return hurried ? Math.min(FIRST_WAIT.toNanos(), lease / 3) : lease / 3;
    }
}
