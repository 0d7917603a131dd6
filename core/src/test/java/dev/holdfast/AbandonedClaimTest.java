package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** While a claim is called off whose waiter has gone, a try of the same client waits for that, and then asks the store. */
class AbandonedClaimTest extends EngineCase {
    private final SlowStore slow = new SlowStore();
    private final LockClient mine =
            LockClient.builder(slow).time(time).executor(Runnable::run).build();
    private final DistributedLock lock = mine.lock("a");

    @AfterEach
    void closeMine() {
        slow.itsTime.complete(null);
        mine.close();
    }

    @Test
    void theTrySucceedsIfTheLockIsFreeByThen() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        CompletableFuture<Hold> gone = aWaiterGoes();

        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(lock::tryAcquire);
        theirs.close(); // the claim that is called off is granted all the same

        assertThat(trying.result()).hasValueSatisfying(Hold::close);
        assertThat(gone).isCancelled();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void soDoesATryToReadAndOneForAPermit() throws Exception {
        DistributedSemaphore semaphore = mine.semaphore("s", 1);
        aTrySucceedsOnceItIsFree(
                rival.semaphore("s", 1).acquire(), () -> semaphore.acquireAsync(1), semaphore::tryAcquire);
        DistributedReadWriteLock documents = mine.readWriteLock("d");
        aTrySucceedsOnceItIsFree(
                rival.readWriteLock("d").write().acquire(),
                () -> documents.read().acquireAsync(),
                () -> documents.read().tryAcquire());
    }

    private void aTrySucceedsOnceItIsFree(
            Hold theirs, Supplier<CompletableFuture<Hold>> waits, Callable<Optional<Hold>> tries) throws Exception {
        CompletableFuture<Hold> gone = goes(waits.get());
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(tries);
        theirs.close();
        assertThat(trying.result()).hasValueSatisfying(Hold::close);
        assertThat(gone).isCancelled();
    }

    @Test
    void theTryIsToldByTheStoreThatOthersHoldTheLock() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        CompletableFuture<Hold> gone = aWaiterGoes();

        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(lock::tryAcquire);
        slow.itsTime.complete(null);

        assertThat(trying.result()).isEmpty();
        assertThat(gone).isCancelled();
        theirs.close();
        assertThat(lock.tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void theTryIsBeforeThoseWhoComeToWaitAfterIt() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        CompletableFuture<Hold> gone = aWaiterGoes();
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(lock::tryAcquire);
        CompletableFuture<Hold> next = lock.acquireAsync();

        theirs.close();

        Hold tried = trying.result().orElseThrow();
        assertThat(next).isNotDone();
        assertThat(gone).isCancelled();
        tried.close();
        assertThat(next).isCompletedWithValueMatching(Hold::isValid);
        next.join().close();
    }

    @Test
    void theTryHasAClaimOfItsOwnAlsoIfCallingOffFails() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        CompletableFuture<Hold> gone = aWaiterGoes();
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(lock::tryAcquire);

        slow.itsTime.completeExceptionally(new StoreUnavailableException("away"));

        assertThat(trying.result()).isEmpty();
        assertThat(gone).isCancelled();
        assertThat(theirs.isValid()).isTrue();
    }

    @Test
    void aTryFailsWithItsClientWhileItWaits() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        CompletableFuture<Hold> gone = aWaiterGoes();
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(lock::tryAcquire);

        Started<Object> closing = start(() -> {
            mine.close();
            return true;
        });
        soon(this::isClosed);
        slow.itsTime.complete(null);

        assertThatThrownBy(trying::result).hasCauseInstanceOf(ClientClosedException.class);
        closing.result();
        assertThat(gone).isCancelled();
        assertThat(theirs.isValid()).isTrue();
    }

    @Test
    void aTryIsNotRefusedBecauseOfOneThatWasGivenUp() throws Exception {
        slow.takesItsTime = true;
        CompletableFuture<Optional<Hold>> gone = lock.tryAcquireAsync(Duration.ZERO);
        assertThat(slow.takesItsTime).isFalse();
        gone.cancel(false);

        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(lock::tryAcquire);
        slow.itsTime.complete(null);

        assertThat(trying.result()).hasValueSatisfying(Hold::close);
    }

    private boolean isClosed() {
        try {
            mine.lock("b");
            return false;
        } catch (ClientClosedException closed) {
            return true;
        }
    }

    /** Its claim is being called off, and the store has not answered yet. */
    private CompletableFuture<Hold> aWaiterGoes() {
        return goes(lock.acquireAsync());
    }

    private CompletableFuture<Hold> goes(CompletableFuture<Hold> waiter) {
        slow.takesItsTime = true;
        waiter.cancel(false);
        assertThat(slow.takesItsTime).isFalse();
        return waiter;
    }

    /** A store that takes its time over a claim, or over one that is called off. */
    private final class SlowStore extends ForwardedStore {
        final CompletableFuture<Void> itsTime = new CompletableFuture<>();
        volatile boolean takesItsTime;

        SlowStore() {
            super(memory.open(time));
        }

        @Override
        public Pending claim(Claim claim, Answer answer) {
            if (!takesItsTime) {
                return super.claim(claim, answer);
            }
            takesItsTime = false;
            itsTime.thenRun(() -> super.claim(claim, answer));
            return Pending.BRIEFLY;
        }

        @Override
        <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
            if (!takesItsTime) {
                return request.get();
            }
            takesItsTime = false;
            return itsTime.thenCompose(answered -> request.get());
        }
    }
}
