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
 * @param names evaluated
 * @param mode one name may be shared or have permits; several are exclusive
 * @param permits how many there are, with {@link LockMode#PERMITS}
 * @param patience how long to wait; null for as long as it takes
 * @param client its name
 * @param options how it is held
 */
record LockRequest(
        List<String> names,
        LockMode mode,
        int permits,
        @Nullable Duration patience,
        String client,
        HoldOptions options) {

    Optional<? extends Holding> acquire(LockClient with) throws InterruptedException {
        if (names.size() > 1) {
            DistributedMultiLock all = with.multiLock(names, options);
            return patience == null ? Optional.of(all.acquire()) : all.tryAcquire(patience);
        }
        if (mode == LockMode.PERMITS) {
            DistributedSemaphore semaphore = with.semaphore(names.get(0), permits, options);
            return patience == null ? Optional.of(semaphore.acquire()) : semaphore.tryAcquire(patience);
        }
        DistributedLock lock = single(with);
        return patience == null ? Optional.of(lock.acquire()) : lock.tryAcquire(patience);
    }

    /** The same without blocking a thread. */
    CompletableFuture<? extends Optional<? extends Holding>> acquireAsync(LockClient with) {
        if (names.size() > 1) {
            DistributedMultiLock all = with.multiLock(names, options);
            return patience == null ? some(all.acquireAsync()) : all.tryAcquireAsync(patience);
        }
        if (mode == LockMode.PERMITS) {
            DistributedSemaphore semaphore = with.semaphore(names.get(0), permits, options);
            return patience == null ? some(semaphore.acquireAsync()) : semaphore.tryAcquireAsync(1, patience);
        }
        DistributedLock lock = single(with);
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

    /** The same for a hold that another thread closes. */
    LockRequest boundToNoThread() {
        return options.reentrant()
                ? new LockRequest(names, mode, permits, patience, client, options.reentrant(false))
                : this;
    }

    private DistributedLock single(LockClient with) {
        return mode == LockMode.SHARED
                ? with.readWriteLock(names.get(0), options).read()
                : with.lock(names.get(0), options);
    }
}
