package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.Stalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Holds as callers use them. */
abstract class HoldCases extends Cases {
    HoldCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aClientReadsItsOwnReleases() throws Exception {
        LockClient client = rig.client();
        String name = rig.name();
        for (int i = 0; i < 20; i++) {
            client.lock(name).acquire().close();
            assertThat(client.lock(name).status().isHeld())
                    .as("status, round " + i)
                    .isFalse();
            client.lock(name).acquire().close();
            assertThat(client.list(name)).as("list, round " + i).isEmpty();
        }
    }

    @Test
    void aHeldLockIsNotToBeHadByAnotherClient() throws Exception {
        DistributedLock mine = rig.client().lock(rig.name());
        DistributedLock theirs = rig.client().lock(mine.name());
        try (Hold hold = mine.acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(theirs.tryAcquire()).isEmpty();
            assertThat(mine.tryAcquire()).isEmpty();
            assertThat(theirs.status().grant().orElseThrow().token()).isEqualTo(hold.token());
        }
        assertThat(theirs.tryAcquire(rig.contract.patience())).isPresent();
    }

    @Test
    void aHoldIsRenewedBeyondItsLease() throws Exception {
        LockClient mine = rig.client();
        LockClient theirs = rig.client();
        RawClient raw = rig.raw();
        HoldOptions options = HoldOptions.defaults().lease(rig.brief().multipliedBy(2));
        rig.unhurried(() -> {
            try (Stalls stalls = Stalls.watch()) {
                Hold hold = mine.lock(rig.name(), options).acquire();
                Duration lease = hold.remaining();
                List<Boolean> had = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    rig.pass(lease.dividedBy(2));
                    stalls.witness(() -> raw.claimOnce(rig.name()));
                    had.add(theirs.lock(hold.name()).tryAcquire().isPresent());
                }
                boolean valid = hold.isValid();
                if (!valid) {
                    rig.throwIfLonger(stalls, lease.dividedBy(6));
                }
                assertThat(valid).isTrue();
                assertThat(had).containsOnly(false);
                hold.close();
            }
        });
    }

    @Test
    void aFixedLeaseIsProlongedByExtend() throws Exception {
        rig.assumeLeased();
        HoldOptions fixed = HoldOptions.defaults().autoRenew(false).lease(Claims.LONG);
        DistributedLock lock = rig.client().lock(rig.name(), fixed);
        try (Hold hold = lock.acquire()) {
            Duration longer = Claims.LONG.multipliedBy(3);
            assertThat(hold.remaining()).isLessThan(Claims.LONG);

            hold.extend(longer);

            assertThat(hold.remaining()).isBetween(Claims.LONG.multipliedBy(2), longer);
            assertThat(leaseLeft(lock)).isBetween(Claims.LONG.multipliedBy(2), longer);

            hold.extend(rig.brief());

            assertThat(hold.remaining()).isLessThan(rig.brief());
            rig.raw().holdWhenFree(hold.name());
            assertThat(hold.isValid()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
    }

    @Test
    void aCloseThatAwaitsTheReleaseReturnsWhenTheLockIsFree() throws Exception {
        LockClient mine = rig.client();
        RawClient raw = rig.raw();
        HoldOptions awaiting = HoldOptions.defaults().awaitRelease(true);
        String name = rig.name();
        for (int round = 0; round < rig.contract.rounds() / 2; round++) {
            mine.lock(name, awaiting).acquire().close();
            assertThat(raw.isHeld(name)).isFalse();
        }
    }

    @Test
    void aCloseThatDoesNotAwaitFreesTheLockSoon() throws Exception {
        RawClient raw = rig.raw();
        Hold hold = rig.client().lock(rig.name()).acquire();
        hold.close();
        raw.claimOnce(hold.name());
    }

    @Test
    void aHoldIsClosedByAnyThread() throws Exception {
        Hold hold = rig.client().lock(rig.name()).acquire();
        rig.patience.result(
                rig.fork(() -> {
                    hold.close();
                    return true;
                }),
                "close on another thread");
        assertThat(hold.isValid()).isFalse();
        rig.raw().claimOnce(hold.name());
    }

    @Test
    void closingTwiceHarmsNoOther() throws Exception {
        String name = rig.name();
        Hold hold = rig.client().lock(name).acquire();
        hold.close();
        try (Hold next = rig.client().lock(name).acquire()) {
            hold.close();
            assertThat(rig.raw().status(name).grant().orElseThrow().token()).isEqualTo(next.token());
        }
    }

    @Test
    @SuppressWarnings("LockNotBeforeTry") // how often it was entered is what is tested
    void aThreadEntersItsJavaLockAgainAndLeavesAsOften() throws Exception {
        String name = rig.name();
        Lock lock = rig.client().lock(name).asLock();
        RawClient raw = rig.raw();
        lock.lock();
        lock.lock();
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        lock.unlock();
        assertThat(raw.isHeld(name)).isTrue();
        Future<Boolean> triedByAnother = rig.fork(() -> lock.tryLock());
        assertThat(rig.patience.result(triedByAnother, "another thread's try")).isFalse();
        lock.unlock();
        raw.claimOnce(name);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void aFutureOfAHeldLockCompletesWhenItIsClosed() throws Exception {
        String name = rig.name();
        Hold hold = rig.client().lock(name).acquire();
        CompletableFuture<Hold> next = rig.client().lock(name).acquireAsync();
        rig.raw().awaitWaiting(name, 1);
        assertThat(next).isNotDone();

        hold.close();

        Hold granted = rig.patience.result(next, "the future");
        assertThat(granted.token()).isGreaterThan(hold.token());
        granted.close();
    }

    @Test
    void namespacesKeepTheirLocksApart() throws Exception {
        String name = rig.name();
        LockClient left = rig.client("left-" + name);
        LockClient right = rig.client("right-" + name);
        try (Hold one = left.lock(name).acquire();
                Hold two = right.lock(name).tryAcquire().orElseThrow()) {
            assertThat(one.isValid() && two.isValid()).isTrue();
            assertThat(left.list("*")).extracting(status -> status.name()).containsExactly(name);
            assertThat(right.lock(name).status().grant().orElseThrow().token()).isEqualTo(two.token());
        }
    }

    private static Duration leaseLeft(DistributedLock lock) {
        return lock.status().grant().orElseThrow().leaseLeft();
    }
}
