package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
            assertThat(reading.isValid()).as("the reader after %s readings", readings).isTrue();
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
            assertThat(reading.isValid()).as("the reader after %s readings", readings).isTrue();
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
        List<Hold> holds = List.of(mine.lock("a").acquire(), mine.lock("b").acquire());
        for (int readings = 0; ; readings++) {
            time.advance(s(9.5));
            erring.failAfter(readings, 1);
            told(() -> time.advance(s(2))); // the renewal of both
            boolean failed = erring.hasFailed();
            erring.stop();
            advance(30, s(1));
            assertThat(holds).as("after %s readings", readings).allMatch(Hold::isValid);
            if (!failed) {
                break;
            }
        }
        holds.forEach(Hold::close);
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
            return rival.lock("a").tryAcquire().map(ErrorAtAWrongMomentTest::closed).isPresent();
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

    private static Hold closed(Hold hold) {
        hold.close();
        return hold;
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
