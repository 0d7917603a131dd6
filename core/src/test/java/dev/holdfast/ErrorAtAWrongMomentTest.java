package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** An Error comes where something has begun that somebody must end: the lock goes on, and nobody else's hold suffers. */
class ErrorAtAWrongMomentTest extends EngineCase {
    private static final HoldOptions REENTRANT = lease(10).reentrant(true);

    private final ErringTime erring = new ErringTime(time);
    private final HostileStore mineStore = new HostileStore(memory.open(time));
    private final LockClient mine = clientOn(mineStore, erring);

    @AfterEach
    void closeMine() {
        erring.stop();
        mineStore.passAll();
        mine.close();
    }

    /** Whatever the downgrade was at: the second close takes no entry of the reader. */
    @Test
    void aWriterThatIsClosedTwiceLeavesTheReaderItsEntry() throws Exception {
        DistributedReadWriteLock both = mine.readWriteLock("a", REENTRANT);
        for (int readings = 0; ; readings++) {
            Hold writing = both.write().acquire();
            Hold reading = both.read().acquire();
            erring.failAfter(readings, 1);
            told(writing::close);
            boolean failed = erring.hasFailed();
            erring.stop();
            told(writing::close);
            assertThat(reading.isValid())
                    .as("the reader after %s readings", readings)
                    .isTrue();
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
            reading.close();
            assertThat(rival.lock("a").tryAcquire())
                    .as("the rival after %s readings", readings)
                    .hasValueSatisfying(Hold::close);
            if (!failed) {
                return;
            }
        }
    }

    @Test
    void aWriterThatIsUnlockedTwiceLeavesTheReaderItsEntry() throws Exception {
        ReadWriteLock both = mine.readWriteLock("a", lease(10)).asReadWriteLock();
        for (int readings = 0; ; readings++) {
            both.writeLock().lock();
            both.readLock().lock();
            erring.failAfter(readings, 1);
            told(both.writeLock()::unlock);
            boolean failed = erring.hasFailed();
            erring.stop();
            told(both.writeLock()::unlock);
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
            both.readLock().unlock();
            assertThat(rival.lock("a").tryAcquire())
                    .as("the rival after %s readings", readings)
                    .hasValueSatisfying(Hold::close);
            if (!failed) {
                return;
            }
        }
    }

    @Test
    void aDowngradeThatMeetsAnErrorIsDoneOrNotDone() throws Exception {
        DistributedReadWriteLock both = mine.readWriteLock("a", REENTRANT);
        for (int readings = 0; ; readings++) {
            Hold writing = both.write().acquire();
            Hold reading = both.read().acquire();
            erring.failAfter(readings, 1);
            told(() -> both.downgrade(writing));
            boolean failed = erring.hasFailed();
            erring.stop();
            assertThat(reading.isValid()).isTrue();
            writing.close();
            assertThat(reading.isValid())
                    .as("the reader after %s readings", readings)
                    .isTrue();
            reading.close();
            assertThat(rival.lock("a").tryAcquire())
                    .as("the rival after %s readings", readings)
                    .hasValueSatisfying(Hold::close);
            if (!failed) {
                return;
            }
        }
    }

    @Test
    void renewalsThatCouldNotBeSentAreSentSoonAgain() throws Exception {
        HookedTime hooked = new HookedTime(time);
        try (LockClient client = clientOn(memory.open(time), hooked);
                Hold one = client.lock("a").acquire();
                Hold other = client.lock("b").acquire()) {
            hooked.once("send", () -> {
                throw new InternalError("no memory to be had");
            });
            told(() -> time.advance(s(11)));
            assertThat(hooked.happened).isTrue();
            advance(60, s(1));
            assertThat(List.of(one, other)).allMatch(Hold::isValid);
        }
    }

    /** The unlock of a thread is left to the timer, where it meets an Error too. */
    @Test
    void aHoldThatTheTimerCouldNotCloseEndsAsALeak() throws Exception {
        Lock lock = mine.lock("a", lease(10)).asLock();
        lock.lock();
        erring.failAfter(0, Integer.MAX_VALUE / 2);
        told(lock::unlock);
        told(() -> time.advance(s(0)));
        erring.stop();
        soon(() -> {
            Garbage.collect();
            time.advance(s(1));
            return rival.lock("a").tryAcquire().map(EngineCase::closed).isPresent();
        });
    }

    @Test
    void aReleaseThatTheTimerRefusesToPlanOnceIsRepeatedAllTheSame() throws Exception {
        RefusingTime refusing = new RefusingTime(time);
        HostileStore store = new HostileStore(memory.open(time));
        try (LockClient client = clientOn(store, refusing)) {
            Hold hold = client.lock("a", lease(3_600)).acquire();
            store.releases = new HostileStore.RequestLost();
            refusing.refuse(1);
            hold.close();
            assertThat(refusing.hasRefused()).isTrue();
            store.passAll();
            advance(10, s(1));
            assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
        }
    }

    /** A store of somebody else may fail with anything. */
    @Test
    void aReleaseWhoseFailureCannotBeToldIsRepeatedAllTheSame() throws Exception {
        Hold hold = mine.lock("a", lease(3_600)).acquire();
        mineStore.releases = new HostileStore.Gate() {
            @Override
            public <T> CompletionStage<T> run(Supplier<CompletionStage<T>> request) {
                return CompletableFuture.failedFuture(new Unspeakable());
            }
        };
        hold.close();
        mineStore.passAll();
        advance(10, s(1));
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    private static final class Unspeakable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new InternalError("no memory to be had");
        }
    }

    /** The wait has left its queue, and only what comes now ends it. */
    @Test
    void aTimedWaitEndsThoughItsEndMeetsAnError() throws Exception {
        Hold theirs = rival.lock("a").acquire();
        for (int readings = 0; ; readings++) {
            Started<?> waiter = startAndWaitUntilItWaits(() -> mine.lock("a").tryAcquire(s(1)));
            erring.failAfter(readings, 1);
            told(() -> time.advance(s(2)));
            boolean failed = erring.hasFailed();
            erring.stop();
            advance(70, s(1)); // the longest that a store is given to prove that it answers
            soon(waiter::isOver);
            if (!failed) {
                break;
            }
        }
        theirs.close();
    }

    /** Whatever it was at: what a caller did not receive, nobody has, and nothing is remembered. */
    @ParameterizedTest
    @MethodSource("callers")
    void aCallerThatIsToldAnErrorHoldsNothing(String kind, Caller caller) throws Exception {
        for (int readings = 0; ; readings++) {
            erring.failAfter(readings, 1);
            AutoCloseable held = null;
            try {
                held = caller.acquires(mine);
            } catch (InternalError | HoldfastException | ExecutionException told) {
                assertThat(told).hasStackTraceContaining("no memory to be had");
            }
            boolean failed = erring.hasFailed();
            erring.stop();
            if (held != null) {
                held.close();
            }
            String after = kind + " after " + readings + " readings";
            assertThat(rival.lock("a").tryAcquire()).as(after).hasValueSatisfying(Hold::close);
            assertThat(Entries.locks(mine)).as(after).isEmpty();
            if (!failed) {
                return;
            }
        }
    }

    /** How a caller acquires. */
    private interface Caller {
        AutoCloseable acquires(LockClient client) throws Exception;
    }

    static Stream<Arguments> callers() {
        return Stream.of(
                caller("acquire", client -> client.lock("a").acquire()),
                caller("try", client -> client.lock("a").tryAcquire().orElseThrow()),
                caller(
                        "try for a time",
                        client -> client.lock("a").tryAcquire(s(1)).orElseThrow()),
                caller("future", client -> client.lock("a").acquireAsync().get()),
                caller(
                        "future for a time",
                        client -> client.lock("a").tryAcquireAsync(s(1)).get().orElseThrow()),
                caller("read", client -> client.readWriteLock("a").read().acquire()),
                caller("lock", client -> {
                    Lock lock = client.lock("a").asLock();
                    lock.lock();
                    return lock::unlock;
                }),
                caller("lock for a time", client -> {
                    Lock lock = client.lock("a").asLock();
                    assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
                    return lock::unlock;
                }));
    }

    private static Arguments caller(String kind, Caller caller) {
        return Arguments.of(kind, caller);
    }

    /** What a caller does, and may be told. */
    private static void told(Runnable what) {
        try {
            what.run();
        } catch (InternalError | RuntimeException broken) {
            assertThat(broken).isNotNull();
        }
    }
}
