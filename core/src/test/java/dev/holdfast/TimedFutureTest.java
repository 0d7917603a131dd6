package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Futures that wait for a time. */
class TimedFutureTest extends EngineCase {
    private final DistributedLock lock = client.lock("a", lease(10));

    @Test
    void aFreeLockIsHeldAtOnce() {
        CompletableFuture<Optional<Hold>> future = lock.tryAcquireAsync(s(2));
        assertThat(future).isCompletedWithValueMatching(Optional::isPresent);
        future.join().orElseThrow().close();
    }

    @Test
    void aLockThatIsReleasedInTimeIsHeld() throws Exception {
        Hold taken = client.lock("a").acquire();
        CompletableFuture<Optional<Hold>> future = lock.tryAcquireAsync(s(2));
        time.advance(s(1));
        assertThat(future).isNotDone();
        taken.close();
        assertThat(future).isCompletedWithValueMatching(Optional::isPresent);
        future.join().orElseThrow().close();
    }

    @Test
    void whereOthersHoldTheLockForLongerItEndsEmptyAndLeavesTheQueue() throws Exception {
        try (Hold taken = rival.lock("a").acquire()) {
            CompletableFuture<Optional<Hold>> future = lock.tryAcquireAsync(s(2));
            time.advance(s(1.9));
            assertThat(future).isNotDone();
            time.advance(s(0.2));
            soon(future::isDone);
            assertThat(future).isCompletedWithValue(Optional.empty());
            assertThat(rival.lock("a").status().waiting()).isZero();
            assertThat(taken.isValid()).isTrue();
        }
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void withoutATimeItAsksOnce() throws Exception {
        try (Hold taken = rival.lock("a").acquire()) {
            assertThat(lock.tryAcquireAsync(Duration.ZERO)).isCompletedWithValue(Optional.empty());
            assertThat(taken.isValid()).isTrue();
        }
        Optional<Hold> now = lock.tryAcquireAsync(Duration.ZERO).join();
        assertThat(now).hasValueSatisfying(Hold::close);
    }

    @Test
    void cancellingGivesThePlaceInTheQueueUp() throws Exception {
        Hold taken = rival.lock("a").acquire();
        CompletableFuture<Optional<Hold>> future = lock.tryAcquireAsync(s(60));
        assertThat(future.cancel(true)).isTrue();
        taken.close();
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aHoldThatComesAfterTheFutureIsCompletedByItsOwnerGoesBack() throws Exception {
        Hold taken = client.lock("a").acquire();
        CompletableFuture<Optional<Hold>> future = lock.tryAcquireAsync(s(60));
        assertThat(future.complete(Optional.empty())).isTrue();
        taken.close();
        soon(() -> rival.lock("a").tryAcquire().map(EngineCase::closed).isPresent());
    }

    @Test
    void severalLocksAreHadTogetherWithinOneTime() throws Exception {
        DistributedMultiLock all = client.multiLock(List.of("a", "b", "c"));
        assertThat(all.tryAcquireAsync(s(2)).join()).hasValueSatisfying(MultiHold::close);
        try (Hold taken = rival.lock("b").acquire()) {
            CompletableFuture<Optional<MultiHold>> future = all.tryAcquireAsync(s(2));
            assertThat(rival.lock("a").tryAcquire())
                    .as("the one before is kept")
                    .isEmpty();
            time.advance(s(2.1));
            soon(future::isDone);
            assertThat(future).isCompletedWithValue(Optional.empty());
            assertThat(taken.isValid()).isTrue();
        }
        assertThat(rival.multiLock(List.of("a", "b", "c")).tryAcquire()).hasValueSatisfying(MultiHold::close);
    }

    @Test
    void permitsAreHadWithinATime() throws Exception {
        DistributedSemaphore two = client.semaphore("s", 2);
        Hold both = two.tryAcquireAsync(2, s(1)).join().orElseThrow();
        CompletableFuture<Optional<Hold>> one = two.tryAcquireAsync(1, s(1));
        time.advance(s(1.1));
        soon(one::isDone);
        assertThat(one).isCompletedWithValue(Optional.empty());
        both.close();
    }

    @Test
    void aNegativeTimeAndALockOfThreadsAreRefused() {
        assertThatThrownBy(() -> lock.tryAcquireAsync(s(-1)).join()).isInstanceOf(IllegalArgumentException.class);
        DistributedLock owned = client.lock("a", lease(10).reentrant(true));
        assertThatThrownBy(() -> owned.tryAcquireAsync(s(1)).join()).isInstanceOf(IllegalStateException.class);
    }
}
