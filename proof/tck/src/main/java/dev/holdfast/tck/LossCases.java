package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.testbed.Stalls;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Holds that are lost: told once, invalid before a rival holds, and never closed in silence. */
abstract class LossCases extends Cases {
    private final Queue<Loss> losses = new ConcurrentLinkedQueue<>();

    LossCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aHoldWhoseRenewalsFailIsInvalidBeforeARivalHoldsAndToldOnce() throws Exception {
        LossyStore line = new LossyStore(rig.store());
        Hold hold = held(rig.client(line), rig.name());
        LockClient rival = rig.client();
        line.lose(true);

        Future<Boolean> overlapped = rivalFindsValid(rival, hold);

        assertThat(rig.patience.times(4).result(overlapped, "the rival to hold"))
                .isFalse();
        assertToldOnce(hold, Loss.Cause.NOT_RENEWED_IN_TIME);
    }

    @Test
    void aReentrantHoldThatItsThreadDroppedIsToldOnceAndTheThreadMayAcquireAgain() throws Exception {
        LockClient client = rig.client(settings -> settings.listener(new LockListener() {
            @Override
            public void onLost(Loss loss) {
                losses.add(loss);
            }
        }));
        HoldOptions reentrant = HoldOptions.defaults().reentrant(true);
        String name = rig.name();
        WeakReference<Hold> dropped = drop(client.lock(name, reentrant.lease(rig.brief())));
        DistributedLock lock = client.lock(name, reentrant); // for long enough on a busy machine
        Hold held = rig.patience.times(4).untilPresent("the loss, and that nobody can close it", () -> {
            System.gc(); // it is renewed until the collector has seen that, or, on a busy machine, lost before
            return losses.isEmpty() || dropped.get() != null ? Optional.empty() : unlessStillHeld(lock);
        });
        try (Hold again = held;
                Hold inner = lock.acquire()) {
            assertThat(again.isValid() && inner.isValid()).isTrue();
        }
        assertThat(losses).hasSize(1);
    }

    /** A thread of the client that has not yet returned from the grant may refer to the hold a little longer. */
    private static Optional<Hold> unlessStillHeld(DistributedLock lock) throws InterruptedException {
        try {
            return Optional.of(lock.acquire());
        } catch (HoldLostException notSeenByTheCollector) {
            return Optional.empty();
        }
    }

    private static WeakReference<Hold> drop(DistributedLock lock) throws InterruptedException {
        return new WeakReference<>(lock.acquire());
    }

    @Test
    void aHoldWhoseLineComesBackInTimeIsNotLost() throws Exception {
        rig.unhurried(() -> {
            LossyStore line = new LossyStore(rig.store());
            LockClient client = rig.client(line);
            RawClient raw = rig.raw();
            HoldOptions options = HoldOptions.defaults().lease(rig.brief().multipliedBy(4));
            try (Stalls stalls = Stalls.watch()) {
                Hold hold = client.lock(rig.name(), options).acquire();
                Duration lease = hold.remaining();
                line.lose(true);
                rig.pass(lease.dividedBy(2));
                line.lose(false);
                for (int i = 0; i < 8; i++) {
                    rig.pass(lease.dividedBy(8));
                    stalls.witness(() -> raw.claimOnce(rig.name()));
                }
                boolean valid = hold.isValid();
                if (!valid) {
                    rig.throwIfLonger(stalls, lease.dividedBy(8));
                }
                assertThat(valid).isTrue();
                hold.close();
            }
        });
    }

    @Test
    void aBrokenHoldIsInvalidBeforeARivalHoldsAndToldOnce() throws Exception {
        LockClient rival = rig.client();
        RawClient raw = rig.raw();
        Hold hold = held(rig.client(), rig.name());

        assertThat(raw.breakShown(hold.name(), false)).isTrue();

        assertThat(rig.patience.result(rivalFindsValid(rival, hold), "the rival to hold"))
                .isFalse();
        assertToldOnce(hold, null);
    }

    @Test
    void aHoldBrokenAtOnceIsToldAtTheNextRenewal() throws Exception {
        Hold hold = held(rig.client(), rig.name());
        LockClient rival = rig.client();

        rig.raw().breakShown(hold.name(), true);

        try (Hold next = rival.lock(hold.name()).tryAcquire().orElseThrow()) {
            assertThat(next.token()).isGreaterThan(hold.token());
            assertToldOnce(hold, null);
            assertThat(next.isValid()).isTrue();
        }
    }

    @Test
    void aHoldWhoseRecordIsTakenAwayUnderItIsToldAtTheNextRenewal() throws Exception {
        RawClient raw = rig.raw();
        Hold hold = held(rig.client(), rig.name());

        assertThat(raw.release(grantOf(hold))).isTrue();

        assertToldOnce(hold, null);
        assertThat(raw.isHeld(hold.name())).as("revived by a renewal").isFalse();
    }

    @Test
    void theClientThatLostALockGetsItAgain() throws Exception {
        LockClient client = rig.client();
        Hold hold = held(client, rig.name());
        rig.raw().breakShown(hold.name(), true);

        try (Hold again = client.lock(hold.name()).acquire()) {
            assertThat(again.token()).isGreaterThan(hold.token());
            assertThat(hold.isValid()).isFalse();
            assertThat(again.isValid()).isTrue();
        }
        assertToldOnce(hold, null);
    }

    @Test
    void aCloseThatAwaitsTheReleaseFindsTheLossThatNobodyHadNoticed() throws Exception {
        LockClient client = rig.client();
        Hold hold = client.lock(rig.name(), HoldOptions.defaults().awaitRelease(true))
                .acquire();
        hold.onLost(losses::add);
        rig.raw().breakShown(hold.name(), true);

        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class).hasMessageContaining(hold.name());

        rig.patience.until("the loss to be told", () -> losses.size() == 1);
    }

    @Test
    void aFixedLeaseEndsByItselfAndIsToldAsLost() throws Exception {
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false).lease(rig.brief());
        Hold hold = rig.client().lock(rig.name(), fixed).acquire();
        hold.onLost(losses::add);

        assertThat(rig.patience.times(4).result(rivalFindsValid(rig.client(), hold), "the rival to hold"))
                .isFalse();

        assertToldOnce(hold, Loss.Cause.FIXED_LEASE_ENDED);
    }

    @Test
    void extendingALostHoldSaysSo() throws Exception {
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false);
        Hold hold = rig.client().lock(rig.name(), fixed).acquire();
        hold.onLost(losses::add);
        rig.raw().breakShown(hold.name(), true);

        assertThatThrownBy(() -> hold.extend(Claims.LONG)).isInstanceOf(HoldLostException.class);

        assertToldOnce(hold, null);
    }

    @Test
    void aThreadCannotUnlockWhatItLost() throws Exception {
        String name = rig.name();
        Lock lock = rig.client().lock(name, renewedOften()).asLock();
        lock.lock();
        rig.raw().breakShown(name, true);
        Hold next = rig.client().lock(name).acquire();

        rig.patience.until("the loss to be noticed", () -> entryIsRefused(lock));
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(next.isValid()).isTrue();
        next.close();
    }

    private static boolean entryIsRefused(Lock held) {
        try {
            if (held.tryLock()) {
                held.unlock();
            }
            return false;
        } catch (HoldLostException lost) {
            return true;
        }
    }

    @Test
    void aClosedClientsHoldsAreLostAndTheirLocksFree() throws Exception {
        LockClient client = rig.client();
        Hold hold = held(client, rig.name());

        client.close();

        assertThat(hold.isValid()).isFalse();
        assertThat(rig.raw().attempt(hold.name())).isPresent();
        assertThat(catchThrowableOfType(HoldLostException.class, hold::close)
                        .loss()
                        .cause())
                .isEqualTo(Loss.Cause.CLIENT_CLOSED);
    }

    private Hold held(LockClient client, String name) throws InterruptedException {
        Hold hold = client.lock(name, renewedOften()).acquire();
        hold.onLost(losses::add);
        return hold;
    }

    private HoldOptions renewedOften() {
        return HoldOptions.defaults().lease(rig.renewed());
    }

    /** Acquires for a rival; whether the first hold was still valid at that moment. */
    private Future<Boolean> rivalFindsValid(LockClient rival, Hold first) {
        return rig.fork(() -> {
            try (Hold second = rival.lock(first.name()).acquire()) {
                boolean valid = first.isValid();
                assertThat(second.token()).isGreaterThan(first.token());
                return valid;
            }
        });
    }

    private void assertToldOnce(Hold hold, Loss.@Nullable Cause cause) {
        rig.patience.until("the loss to be told", () -> !losses.isEmpty());
        assertThat(hold.isValid()).isFalse();
        HoldLostException thrown = catchThrowableOfType(HoldLostException.class, hold::close);
        assertThat(thrown.loss().token()).isEqualTo(hold.token());
        assertThat(thrown).hasMessageContaining(hold.name());
        hold.close();
        rig.pass(rig.brief());
        assertThat(List.copyOf(losses)).containsExactly(thrown.loss());
        if (cause != null) {
            assertThat(thrown.loss().cause()).isEqualTo(cause);
        }
    }

    private static Grant grantOf(Hold hold) {
        return new Grant(ClaimId.of(hold.id()), hold.name(), Mode.EXCLUSIVE, Claims.LONG, hold.token() / 1024, 0);
    }
}
