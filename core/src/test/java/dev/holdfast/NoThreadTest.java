package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The timer cannot start a thread: waiters are answered, nothing is left in the store, and other holds go on. */
class NoThreadTest extends EngineCase {
    private final RefusingTime refusing = new RefusingTime(time);
    private final HostileStore mineStore = new HostileStore(memory.open(time));
    private final LockClient mine = clientOn(mineStore, refusing);

    @AfterEach
    void closeMine() {
        mineStore.passAll();
        mine.close();
    }

    @Test
    void aTryIsAnsweredAndLeavesTheLockFree() throws Exception {
        assertAnswered(() -> mine.lock("a").tryAcquire());
        assertFree();
    }

    @Test
    void aCallerThatWaitsIsAnsweredAndLeavesTheLockFree() throws Exception {
        assertAnswered(() -> mine.lock("a").acquire());
        assertFree();
    }

    @Test
    void aReaderIsAnsweredAndLeavesTheLockFree() throws Exception {
        assertAnswered(() -> mine.readWriteLock("a").read().tryAcquire());
        assertFree();
    }

    @Test
    void aCallerThatWantsAPermitIsAnsweredAndLeavesItFree() throws Exception {
        assertAnswered(() -> mine.semaphore("a", 1).tryAcquire());
        assertThat(rival.semaphore("a", 1).tryAcquire()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aFutureIsAnsweredAndLeavesTheLockFree() throws Exception {
        assertAnswered(() -> mine.lock("a").acquireAsync().get(30, TimeUnit.SECONDS));
        assertFree();
    }

    @Test
    void aThreadOwnedLockIsAnsweredAndLeavesTheLockFree() throws Exception {
        assertAnswered(() -> {
            mine.lock("a").asLock().lock();
            return true;
        });
        assertFree();
    }

    /** Its grant comes while the timer has no thread: by then it waits. */
    @Test
    void aWaiterIsAnsweredWhenTheLockBecomesFreeForIt() throws Exception {
        Hold before = rival.lock("a").acquire();
        Started<Hold> waiter = startAndWaitUntilItWaits(() -> mine.lock("a").acquire());
        refusing.refuse(1);
        before.close();
        soon(waiter::isOver);
        assertThatThrownBy(waiter::result).cause().isInstanceOf(HoldfastException.class);
        assertFree();
    }

    /** The first refusal meets its time limit, the next ones its claim and what clears it away. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aWaiterWithATimeLimitLeavesTheQueueThatItCouldNotBeTimedIn(int refusals) throws Exception {
        Hold before = rival.lock("a").acquire();
        refusing.refuse(refusals);
        Started<Optional<Hold>> waiter = start(() -> mine.lock("a").tryAcquire(s(60)));
        soon(waiter::isOver);
        assertThatThrownBy(waiter::result).hasRootCauseInstanceOf(InternalError.class);
        refusing.refuse(0);
        before.close();
        assertFree();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aFutureWithATimeLimitLeavesTheQueueThatItCouldNotBeTimedIn(int refusals) throws Exception {
        Hold before = rival.lock("a").acquire();
        refusing.refuse(refusals);
        assertThatThrownBy(() -> mine.lock("a").tryAcquireAsync(s(60)).get(30, TimeUnit.SECONDS))
                .satisfiesAnyOf(
                        thrown -> assertThat(thrown).isInstanceOf(InternalError.class),
                        thrown -> assertThat(thrown).hasRootCauseInstanceOf(InternalError.class));
        refusing.refuse(0);
        before.close();
        assertFree();
    }

    @Test
    void theNextCallerOfTheSameClientIsServed() throws Exception {
        Hold before = rival.lock("a").acquire();
        Started<Hold> first = startAndWaitUntilItWaits(() -> mine.lock("a").acquire());
        refusing.refuse(1);
        before.close();
        soon(first::isOver);
        Started<Hold> next = start(() -> mine.lock("a").acquire());
        soon(next::isOver);
        next.result().close();
    }

    @Test
    void holdsThatWereThereAreRenewedAllTheSame() throws Exception {
        Hold other = mine.lock("b").acquire();
        refusing.refuse(1); // the lease of 1 s is due before that of the other
        Started<Optional<Hold>> refused = start(() -> mine.lock("a", lease(1)).tryAcquire());
        soon(refusing::hasRefused);
        soon(refused::isOver); // what it clears away, it has cleared away
        advance(60, s(1));
        assertThat(other.isValid()).isTrue();
        other.close();
    }

    @Test
    void anAwaitedCloseEndsThoughItsReleaseCannotBeRepeated() throws Exception {
        Hold hold = mine.lock("a", HoldOptions.defaults().awaitRelease(true)).acquire();
        mineStore.releases = new HostileStore.RequestLost();
        refusing.refuse(1);
        Started<Void> closer = start(() -> {
            hold.close();
            return null;
        });
        soon(closer::isOver);
        closer.result();
        mineStore.passAll();
        assertThat(mine.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    /** As a term of an election does when it ends: what it runs at once plans a task. */
    @Test
    void aLossWhoseReportFailsStopsNoRenewalOfOthers() throws Exception {
        try (Hold other = client.lock("b").acquire()) {
            Hold lost = client.lock("a", HoldOptions.defaults().autoRenew(false).lease(s(1)))
                    .acquire();
            lost.onLossAtOnce(why -> {
                throw new InternalError("no thread to be had");
            });
            advance(60, s(1));
            assertThat(lost.isValid()).isFalse();
            assertThat(other.isValid()).isTrue();
        }
    }

    /** Where the answer to a renewal reports the loss. */
    @Test
    void aLossAtARenewalWhoseReportFailsStopsNoRenewalOfOthers() throws Exception {
        Hold lost = client.lock("a").acquire();
        try (Hold other = client.lock("b").acquire()) {
            lost.onLossAtOnce(why -> {
                throw new InternalError("no thread to be had");
            });
            Breaking.shown(memory.open(), "a", true);
            advance(60, s(1));
            assertThat(lost.isValid()).isFalse();
            assertThat(other.isValid()).isTrue();
        }
    }

    private void assertAnswered(Callable<?> acquire) {
        refusing.refuse(1);
        Started<?> caller = start(acquire);
        soon(caller::isOver);
        assertThatThrownBy(caller::result)
                .isInstanceOf(ExecutionException.class)
                .rootCause()
                .isInstanceOf(InternalError.class);
    }

    private void assertFree() {
        soon(() -> {
            Optional<Hold> got = rival.lock("a").tryAcquire();
            got.ifPresent(Hold::close);
            return got.isPresent();
        });
        CompletableFuture<Hold> again = mine.lock("a").acquireAsync();
        soon(again::isDone);
        again.join().close();
    }
}
