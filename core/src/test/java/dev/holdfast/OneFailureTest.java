package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.Store;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** What fails once, in the middle of a step, stops no lock and no renewal for longer than that. */
class OneFailureTest extends EngineCase {
    private final RefusingTime refusing = new RefusingTime(time);
    private final LockClient refused = clientOn(memory.open(time), refusing);
    private final HookedTime hooked = new HookedTime(time);
    private final LockClient failing = clientOn(memory.open(time), hooked);

    @Test
    void renewalGoesOnWhenItsNextTickGotNoThread() throws Exception {
        Hold brief = refused.lock("b", lease(3)).acquire();
        Hold held = refused.lock("a", lease(30)).acquire();
        brief.close();

        refusing.refuse(1);
        advance(60, s(1));

        assertThat(refusing.hasRefused()).isTrue();
        assertThat(held.isValid()).isTrue();
        held.close();
    }

    @Test
    void renewalBeginsAgainWithTheNextHoldWhenItsTickGotNoThreadThrice() throws Exception {
        Hold brief = refused.lock("b", lease(3)).acquire();
        Hold held = refused.lock("a", lease(30)).acquire();
        brief.close();

        refusing.refuse(3);
        assertThatThrownBy(() -> advance(3, s(1))).isInstanceOf(InternalError.class); // on the timer's thread
        assertThat(refusing.hasRefused()).isTrue();
        Hold next = refused.lock("c", lease(60)).acquire();
        advance(60, s(1));

        assertThat(held.isValid()).isTrue();
        assertThat(next.isValid()).isTrue();
        held.close();
        next.close();
    }

    @Test
    void aGrantWhoseNewLeaseCannotBeKeptIsGivenBackAndClaimedAnew() throws Exception {
        Hold first = refused.lock("a", lease(3)).acquire();
        Started<Hold> waiter =
                startAndWaitUntilItWaits(() -> refused.lock("a", lease(2)).acquire());
        refusing.refuse(1);

        first.close();
        soon(() -> {
            time.advance(s(1));
            return waiter.isOver();
        });

        assertThat(refusing.hasRefused()).isTrue();
        waiter.result().close();
        assertFree();
    }

    @Test
    void aCloseThatMeetsAnErrorCanBeRepeated() throws Exception {
        Hold hold = failing.lock("a").acquire();
        failOnce("close");

        assertThatThrownBy(hold::close).isInstanceOf(InternalError.class);
        hold.close();

        assertThat(hooked.happened).isTrue();
        assertFree();
    }

    /** Its thread does not find the hold again, to unlock once more. */
    @Test
    void anUnlockThatMeetsAnErrorLeavesTheLockAllTheSame() {
        Lock owned = failing.lock("a").asLock();
        owned.lock();
        failOnce("close");

        assertThatThrownBy(owned::unlock).isInstanceOf(InternalError.class);
        time.advance(s(1));

        assertThat(hooked.happened).isTrue();
        assertFree();
    }

    @Test
    void aRetainedLockGoesBackIfTheTimerRefusesTwiceToCheckIt() throws Exception {
        Hold hold = refused.lock("a", lease(30).retain(s(60))).acquire();
        refusing.refuse(2);

        assertThatThrownBy(hold::close).isInstanceOf(InternalError.class); // of the timer: the hold is closed
        assertThat(refusing.hasRefused()).isTrue();
        advance(2, s(60));

        assertFree();
    }

    @Test
    void aWaiterWhoseHoldCannotBeMadeHearsIt() throws Exception {
        Hold first = failing.lock("a").acquire();
        CompletableFuture<Hold> second = failing.lock("a").acquireAsync();
        CompletableFuture<Hold> third = failing.lock("a").acquireAsync();
        failOnce("giveTo");

        first.close();

        assertThat(second).isCompletedExceptionally();
        third.join().close();
        assertFree();
    }

    @Test
    void grantsWhosePartOfTheStoreCannotBeToldOnceAreRenewedSoonAfter() throws Exception {
        PartUnknownOnce store = new PartUnknownOnce(memory.open(time));
        try (LockClient mine = clientOn(store, time)) {
            Hold hold = mine.lock("a", lease(30)).acquire();
            store.fails.set(true);
            advance(60, s(1));

            assertThat(store.fails).isFalse();
            assertThat(hold.isValid()).isTrue();
            hold.close();
        }
    }

    private void failOnce(String method) {
        hooked.once(method, () -> {
            throw new InternalError("as of memory");
        });
    }

    private void assertFree() {
        assertThat(rival.lock("a").tryAcquire()).hasValueSatisfying(Hold::close);
    }

    private static final class PartUnknownOnce extends ForwardedStore {
        final AtomicBoolean fails = new AtomicBoolean();

        PartUnknownOnce(Store store) {
            super(store);
        }

        @Override
        public String part(String name) {
            if (fails.compareAndSet(true, false)) {
                throw new IllegalStateException("no slot is known");
            }
            return super.part(name);
        }
    }
}
