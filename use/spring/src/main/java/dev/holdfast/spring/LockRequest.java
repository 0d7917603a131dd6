package dev.holdfast.spring;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedMultiLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.HoldOptions;
import dev.holdfast.Holding;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What one call of a method wants to hold.
 *
 * @param with the client that keeps it
 * @param names evaluated; none twice
 * @param together whether the names were several when they were written, and are held by one {@code MultiHold}
 * @param mode one name may be shared or have permits; several are exclusive
 * @param permits how many there are, with {@link LockMode#PERMITS}
 * @param patience how long to wait; null for as long as it takes
 * @param options how it is held
 */
record LockRequest(
        LockClient with,
        List<String> names,
        boolean together,
        LockMode mode,
        int permits,
        @Nullable Duration patience,
        HoldOptions options) {

    Optional<? extends Holding> acquire() throws InterruptedException {
        if (together) {
            DistributedMultiLock all = with.multiLock(names, options);
            return patience == null ? Optional.of(all.acquire()) : all.tryAcquire(patience);
        }
        if (mode == LockMode.PERMITS) {
            DistributedSemaphore semaphore = with.semaphore(names.get(0), permits, options);
            return patience == null ? Optional.of(semaphore.acquire()) : semaphore.tryAcquire(patience);
        }
        DistributedLock lock = single();
        return patience == null ? Optional.of(lock.acquire()) : lock.tryAcquire(patience);
    }

    /** The same without blocking a thread. */
    CompletableFuture<? extends Optional<? extends Holding>> acquireAsync() {
        if (together) {
            DistributedMultiLock all = with.multiLock(names, options);
            return patience == null ? some(all.acquireAsync()) : all.tryAcquireAsync(patience);
        }
        if (mode == LockMode.PERMITS) {
            DistributedSemaphore semaphore = with.semaphore(names.get(0), permits, options);
            return patience == null ? some(semaphore.acquireAsync()) : semaphore.tryAcquireAsync(1, patience);
        }
        DistributedLock lock = single();
        return patience == null ? some(lock.acquireAsync()) : lock.tryAcquireAsync(patience);
    }

    /** Who gives the answer up gives the claim up, and a hold that comes at that moment is closed. */
    private static <H extends Holding> CompletableFuture<Optional<H>> some(CompletableFuture<H> asked) {
        CompletableFuture<Optional<H>> answer = new CompletableFuture<>();
        asked.whenComplete((hold, failure) -> {
            if (failure != null) {
                answer.completeExceptionally(failure);
            } else if (!answer.complete(Optional.of(hold))) {
                hold.close();
            }
        });
        answer.whenComplete((hold, failure) -> asked.cancel(false)); // no-op once it is done
        return answer;
    }

    /** The same for a hold that any thread closes, which must not wait for the store then. */
    LockRequest boundToNoThread() {
        return options.reentrant() || options.awaitRelease()
                ? new LockRequest(
                        with,
                        names,
                        together,
                        mode,
                        permits,
                        patience,
                        options.reentrant(false).awaitRelease(false))
                : this;
    }

    private DistributedLock single() {
        return mode == LockMode.SHARED
                ? with.readWriteLock(names.get(0), options).read()
                : with.lock(names.get(0), options);
    }
}
