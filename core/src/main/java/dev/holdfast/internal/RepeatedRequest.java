package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A release, a withdrawal or a downgrade that the store did not confirm, and that is sent until it does; a withdrawal also if it was
 * answered too early to count.
 *
 * <p>The first wait is a quarter of a second, because a server that was restarted is often back within a second. Each
 * further wait is twice as long, up to a third of the lease. So the delay after an outage is at most about the length of
 * the outage, and the time-out of one request. Except while the client closes, a wait is at least as long as the last
 * request took: a request that waits for a locked row uses its connection for half of the time at most.
 *
 * <p>With a lease, the repetition ends with the lease, which ends the grant. A session may outlive it, so there the
 * repetition continues; so it does for a downgrade, whose grant is renewed. A refusal does not end it, except the third in
 * a row while the client closes. Thread-safe.
 */
final class RepeatedRequest {
    private static final Duration FIRST_WAIT = Duration.ofMillis(250);
    /** What is refused so often in a row is given up when the client is being closed. */
    private static final int REFUSALS = 3;

    private final TimeSource time;
    private final Supplier<CompletableFuture<Boolean>> request;
    private final BooleanSupplier stopped;
    private final boolean outlivesLease;
    private final long lease;
    private final long begin;
    private final long countsFrom;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    /** The present wait; null while a request is under way. The thread that removes it sends the request. */
    private final AtomicReference<@Nullable Wait> waiting = new AtomicReference<>();

    private volatile boolean hurried;
    /** Consecutive ones. Written only while a request is under way. */
    private int refusals;

    /** The wait before the next request: its length, when it began, and how long the last request took; in nanoseconds. */
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

    /**
     * A request that was sent; {@link #ended} begins to repeat it.
     *
     * @param stopped whether it is sent no more, as when the client is closed
     * @param outlivesLease whether it is to be repeated when the lease has ended
     * @param countsFrom by {@code nanoTime}; the answer to what was sent before does not count
     */
    RepeatedRequest(
            TimeSource time,
            Supplier<CompletableFuture<Boolean>> request,
            BooleanSupplier stopped,
            boolean outlivesLease,
            Duration lease,
            long countsFrom) {
        this.time = time;
        this.request = request;
        this.stopped = stopped;
        this.outlivesLease = outlivesLease;
        this.lease = Durations.nanos(lease);
        this.begin = time.nanoTime();
        this.countsFrom = countsFrom;
    }

    /** The first request, which was sent at that time, has its answer, or failed. */
    void ended(@Nullable Throwable failure, long sent) {
        ended(failure, sent, firstWait());
    }

    private void ended(@Nullable Throwable failure, long sent, long nextLength) {
        long now = time.nanoTime();
        if (failure == null && sent - countsFrom < 0) {
            await(Math.max(0, countsFrom - now), 0, firstWait());
        } else if (failure == null || isFinal(Failures.cause(failure))) {
            over.complete(null);
        } else {
            long length = hurried ? longestWait() : Math.max(nextLength, now - sent);
            await(length, now - sent, Math.min(2 * length, longestWait()));
        }
    }

    /** Completes when the request is no longer repeated. */
    CompletableFuture<Void> over() {
        return over;
    }

    /** Sends the request now, unless less time has passed since it failed than it took. */
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

    /** Sends it no more. */
    void giveUp() {
        over.complete(null);
        Wait present = waiting.get();
        if (present != null) {
            end(present, 0);
        }
    }

    private void await(long length, long took, long nextLength) {
        Wait present = new Wait(length, took, time.nanoTime());
        waiting.set(present);
        Runnable sends = () -> end(present, nextLength);
        Duration wait = Duration.ofNanos(length);
        try {
            present.timer = time.schedule(sends, wait);
        } catch (Throwable noThread) { // nothing else may repeat it
            present.timer = time.schedule(sends, wait);
        }
        if (over.isDone() || (hurried && length > longestWait())) { // giveUp() or hurry() ran meanwhile
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
        if (over.isDone() || stopped.getAsBoolean() || (!outlivesLease && isLeaseOver())) {
            over.complete(null);
            return;
        }
        long sent = time.nanoTime();
        request.get().whenComplete((answer, failure) -> ended(failure, sent, nextLength));
    }

    private boolean isFinal(Throwable failure) {
        refusals = failure instanceof StoreRefusedException ? refusals + 1 : 0;
        return failure instanceof ClientClosedException || (refusals >= REFUSALS && hurried);
    }

    private boolean isLeaseOver() {
        return time.nanoTime() - begin >= lease;
    }

    private long firstWait() {
        return Math.min(FIRST_WAIT.toNanos(), longestWait());
    }

    private long longestWait() {
        return hurried ? Math.min(FIRST_WAIT.toNanos(), lease / 3) : lease / 3;
    }
}
