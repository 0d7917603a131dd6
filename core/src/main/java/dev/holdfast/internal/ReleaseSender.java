package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Releases to the store: of grants that ended, and of anything that a claim of unknown outcome may have left there.
 *
 * <p>Both are sent at once. If the store does not answer, they are sent again after a quarter of a second, and then after
 * waits that double, up to a third of the lease. So a lock that is released during an outage is free soon after it: at
 * most about as long after the outage as the outage lasted. This ends when the store answers, when the lease has ended
 * by itself, and when the client is closed. A session may live on, so a release of its grant has no such end.
 *
 * <p>A claim whose outcome is unknown is withdrawn once more a third of its lease later, also if the store has answered:
 * the first withdrawal may overtake a claim that is still on its way. Callers do not wait for any of this. Thread-safe.
 */
final class ReleaseSender {
    private static final Duration POLL = Duration.ofMillis(1);
    /** A server that was restarted is often back within a second. */
    private static final Duration FIRST_WAIT = Duration.ofMillis(250);

    private final Store store;
    private final TimeSource time;
    private final Telemetry telemetry;
    private volatile boolean closed;
    /** By the name in the store that each is about. */
    private final Map<CompletableFuture<?>, String> underWay = new ConcurrentHashMap<>();

    ReleaseSender(Store store, TimeSource time, Telemetry telemetry) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
    }

    /** A store's answer, also where the store throws instead of answering. */
    static <T> CompletableFuture<T> guarded(Supplier<CompletionStage<T>> request) {
        try {
            return request.get()
                    .thenApply(answer -> Objects.requireNonNull(answer, "the store answered null"))
                    .toCompletableFuture();
        } catch (Throwable broken) { // an Error, too, must not leave a lock half-way between two states
            return CompletableFuture.failedFuture(broken);
        }
    }

    /**
     * Releases a grant.
     *
     * @param last the hold closed last under it, whose loss is reported if the grant turns out to have been gone; null when that
     *     is known already
     */
    CompletableFuture<Boolean> release(GrantState grant, @Nullable HoldState last) {
        return track(
                grant.grant().name(),
                guarded(() -> store.release(grant.grant())).whenComplete((held, failure) -> {
                    if (failure == null) {
                        if (!held && last != null) {
                            telemetry.lostUnnoticed(
                                    last,
                                    new Loss(last.name, last.token, Loss.Cause.GONE_FROM_STORE, store.description()));
                        }
                        grant.released().complete(held);
                    } else {
                        telemetry.releaseFailed(grant, last, failure);
                        Duration lease = grant.grant().lease();
                        BooleanSupplier needed = grant.isSessionBound() ? () -> true : within(lease);
                        sendAgain(() -> store.release(grant.grant()), needed, lease, FIRST_WAIT);
                        grant.released().completeExceptionally(failure);
                    }
                }));
    }

    /**
     * Releases a grant, and completes once a claim may follow: with the answer or, where requests take effect in the
     * order in which they are made, as soon as this one is.
     */
    CompletableFuture<Boolean> releaseBeforeClaims(GrantState grant, @Nullable HoldState last) {
        CompletableFuture<Boolean> answer = release(grant, last);
        return store.capabilities().ordered() ? CompletableFuture.completedFuture(true) : answer;
    }

    /** Has the store let readers of other clients in beside the holder of a grant. If it does not, they wait: safe. */
    void downgrade(Grant grant) {
        guarded(() -> store.downgrade(grant));
    }

    /** Sends nothing again from now on. */
    void close() {
        closed = true;
    }

    /** Withdraws a claim now and, whatever the answer, once more a third of its lease later. */
    void withdraw(Claim claim) {
        track(claim.name(), guarded(() -> withdrawn(claim)).whenComplete((answer, failure) -> {
            if (failure != null) {
                sendAgain(() -> withdrawn(claim), within(claim.lease()), claim.lease(), FIRST_WAIT);
            }
        }));
        time.schedule(() -> guarded(() -> withdrawn(claim)), third(claim.lease()));
    }

    /** Sends a request until the store answers, while it is needed. */
    private void sendAgain(
            Supplier<CompletionStage<Boolean>> request, BooleanSupplier needed, Duration lease, Duration wait) {
        Duration longest = third(lease);
        Duration bounded = wait.compareTo(longest) < 0 ? wait : longest;
        Runnable send = () -> {
            if (!closed && needed.getAsBoolean()) {
                guarded(request).whenComplete((answer, failure) -> {
                    if (failure != null) {
                        sendAgain(request, needed, lease, bounded.multipliedBy(2));
                    }
                });
            }
        };
        time.schedule(send, bounded);
    }

    /** Whether a time that begins now has not ended yet. */
    private BooleanSupplier within(Duration limit) {
        long begin = time.nanoTime();
        long nanos = Durations.nanos(limit);
        return () -> time.nanoTime() - begin < nanos;
    }

    private CompletionStage<Boolean> withdrawn(Claim claim) {
        return store.withdraw(claim).thenApply(nothing -> true);
    }

    /** Waits until nothing is under way and the condition holds, or the time limit has passed. */
    void awaitQuiet(Duration limit, BooleanSupplier quiet) {
        long end = System.nanoTime() + limit.toNanos();
        UninterruptedWait.until(() -> (isQuiet() && quiet.getAsBoolean()) || System.nanoTime() - end >= 0, POLL);
    }

    /** Whether nothing is under way. */
    boolean isQuiet() {
        return underWay.isEmpty();
    }

    /** Completes once all that is under way now is answered or has failed: of one name, or of all where that is null. */
    CompletableFuture<Void> settled(@Nullable String inStore) {
        CompletableFuture<?>[] now = underWay.entrySet().stream()
                .filter(each -> inStore == null || each.getValue().equals(inStore))
                .map(Map.Entry::getKey)
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(now).exceptionally(failed -> null);
    }

    private <T> CompletableFuture<T> track(String inStore, CompletableFuture<T> sent) {
        underWay.put(sent, inStore);
        sent.whenComplete((answer, failure) -> underWay.remove(sent));
        return sent;
    }

    private static Duration third(Duration lease) {
        return Duration.ofNanos(Durations.nanos(lease) / 3);
    }
}
