package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What goes back to the store: grants that ended, and whatever a claim of unknown outcome may have left there.
 *
 * <p>Both are sent at once and, when the store does not answer, once more a third of a lease later; after that the lease
 * itself is the bound. A claim whose outcome is unknown is withdrawn twice in any case: the first withdrawal may overtake
 * a claim that is still on its way. Callers do not wait for any of this. Thread-safe.
 */
final class Returns {
    private static final System.Logger LOG = System.getLogger("dev.holdfast");
    private static final long POLL_NANOS = Duration.ofMillis(1).toNanos();

    private final Store store;
    private final TimeSource time;
    private final Observer observer;
    private final Set<CompletableFuture<?>> underWay = ConcurrentHashMap.newKeySet();

    Returns(Store store, TimeSource time, Observer observer) {
        this.store = store;
        this.time = time;
        this.observer = observer;
    }

    /** A store's answer, also where the store throws instead of answering. */
    static <T> CompletableFuture<T> guarded(Supplier<CompletionStage<T>> request) {
        try {
            return request.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Releases a grant.
     *
     * @param last the hold closed last under it, which is told if the grant turns out to have been gone; null when that
     *     is known already
     */
    CompletableFuture<Boolean> release(LiveGrant grant, @Nullable LiveHold last) {
        CompletableFuture<Boolean> sent = track(guarded(() -> store.release(grant.grant())));
        sent.whenComplete((held, failure) -> {
            if (failure == null) {
                if (!held && last != null) {
                    observer.lostUnnoticed(
                            last, new Loss(last.name, last.token, Loss.Cause.REFUSED, store.description()));
                }
                grant.released().complete(held);
            } else {
                LOG.log(
                        System.Logger.Level.WARNING,
                        () -> "could not release '" + grant.grant().name() + "' on " + store.description()
                                + "; tried once more, and free when its lease of "
                                + grant.grant().lease() + " ends at the latest: " + failure.getMessage());
                time.schedule(
                        () -> guarded(() -> store.release(grant.grant())),
                        third(grant.grant().lease()));
                grant.released().completeExceptionally(failure);
            }
        });
        return sent;
    }

    /** Withdraws a claim now and once more a third of its lease later. */
    void withdraw(Claim claim) {
        track(guarded(() -> store.withdraw(claim)));
        time.schedule(() -> guarded(() -> store.withdraw(claim)), third(claim.lease()));
    }

    /** Waits until nothing is under way and the condition holds, or the patience ends. */
    void awaitQuiet(Duration patience, BooleanSupplier quiet) {
        long end = System.nanoTime() + patience.toNanos();
        while (!(underWay.isEmpty() && quiet.getAsBoolean()) && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(this, POLL_NANOS);
        }
    }

    private <T> CompletableFuture<T> track(CompletableFuture<T> sent) {
        underWay.add(sent);
        sent.whenComplete((answer, failure) -> underWay.remove(sent));
        return sent;
    }

    private static Duration third(Duration lease) {
        return lease.dividedBy(3);
    }
}
