package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.UnsupportedByStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A holder that hears of others who wait, and a lock that stays with its client until others want it. */
abstract class WantedCases extends Cases {
    private static final int PASSES = 60;
    private static final int TOKENS_PER_NUMBER = 1_024;
    private static final HoldOptions RETAINED =
            HoldOptions.defaults().lease(Claims.LONG).retain(Duration.ofHours(1));

    WantedCases(StoreContract contract) {
        super(contract);
    }

    private void assumeReports() {
        assumeTrue(rig.capabilities().wanted(), "the store does not report that a lock is wanted");
    }

    @Test
    void aLockIsRetainedOnlyWhereTheStoreReportsThatItIsWanted() throws Exception {
        LockClient client = rig.client();
        String name = rig.name();
        try (Hold hold = client.lock(name).acquire()) {
            if (rig.capabilities().wanted()) {
                assertThat(client.lock(name, RETAINED).options()).isEqualTo(RETAINED);
                hold.onWanted(() -> {});
            } else {
                assertThatThrownBy(() -> client.lock(name, RETAINED)).isInstanceOf(UnsupportedByStoreException.class);
                assertThatThrownBy(() -> hold.onWanted(() -> {})).isInstanceOf(UnsupportedByStoreException.class);
            }
        }
    }

    @Test
    void aHolderIsNotifiedOnceWhenAnotherClientWaits() throws Exception {
        assumeReports();
        AtomicInteger notified = new AtomicInteger();
        Hold hold = rig.client().lock(rig.name()).acquire();
        hold.onWanted(notified::incrementAndGet);
        assertThat(rig.client().lock(hold.name()).tryAcquire()).isEmpty();
        assertThat(notified).as("a try does not wait").hasValue(0);

        CompletableFuture<Hold> first = rig.client().lock(hold.name()).acquireAsync();
        rig.patience.until("the holder to be notified", () -> notified.get() > 0);
        CompletableFuture<Hold> second = rig.client().lock(hold.name()).acquireAsync();
        rig.raw().awaitWaiting(hold.name(), 2);
        hold.close();
        rig.patience.result(first, "the first waiter").close();
        rig.patience.result(second, "the second waiter").close();

        assertThat(notified).hasValue(1);
    }

    @Test
    void aHolderIsNotifiedOfAWaiterThatCameFirst() throws Exception {
        assumeReports();
        Hold hold = rig.client().lock(rig.name()).acquire();
        CompletableFuture<Hold> theirs = rig.client().lock(hold.name()).acquireAsync();
        rig.raw().awaitWaiting(hold.name(), 1);
        CountDownLatch notified = new CountDownLatch(1);

        hold.onWanted(notified::countDown);

        rig.patience.until("the holder to be notified", () -> notified.getCount() == 0);
        hold.close();
        rig.patience.result(theirs, "the waiter").close();
    }

    @Test
    void aRetainedLockIsAcquiredAgainWithoutAClaim() throws Exception {
        assumeReports();
        LockClient client = rig.client();
        DistributedLock lock = client.lock(rig.name(), RETAINED);
        Hold first = lock.acquire();
        first.close();

        for (int i = 1; i <= 500; i++) {
            try (Hold next = lock.acquire()) {
                assertThat(next.token()).isEqualTo(first.token() + i);
                assertThat(next.isValid()).isTrue();
            }
        }

        assertThat(client.statistics().claims()).isEqualTo(1);
        assertThat(rig.raw().isHeld(lock.name())).isTrue();
    }

    @Test
    void aRivalGetsAnUnusedRetainedLockSoon() throws Exception {
        assumeReports();
        LockClient one = rig.client();
        LockClient two = rig.client();
        String name = rig.name();
        long last = 0;
        for (int round = 0; round < rig.contract.rounds() / 4; round++) {
            for (LockClient client : List.of(one, two)) {
                CompletableFuture<Hold> mine = client.lock(name, RETAINED).acquireAsync();
                try (Hold hold = rig.patience.result(mine, "a lock that the other client retains")) {
                    assertThat(hold.token()).isGreaterThan(last);
                    last = hold.token();
                }
            }
        }
    }

    @Test
    void aRivalGetsARetainedLockInUseWhenItsHoldCloses() throws Exception {
        assumeReports();
        DistributedLock lock = rig.client().lock(rig.name(), RETAINED);
        lock.acquire().close();
        Hold inUse = lock.acquire();
        CompletableFuture<Hold> theirs = rig.client().lock(lock.name()).acquireAsync();
        rig.raw().awaitWaiting(lock.name(), 1);
        assertThat(theirs).isNotDone();

        inUse.close();

        rig.patience.result(theirs, "the lock").close();
    }

    @Test
    void aRetainedLockIsReleasedWhenItHasNotBeenUsedForItsTime() throws Exception {
        assumeReports();
        HoldOptions briefly = RETAINED.retain(Duration.ofMillis(200));
        DistributedLock lock = rig.client().lock(rig.name(), briefly);

        lock.acquire().close();

        rig.raw().awaitFree(lock.name());
    }

    @Test
    void aRetainedLockThatWasLostWhileNobodyUsedItIsNotHandedOut() throws Exception {
        assumeReports();
        LossyStore line = new LossyStore(rig.store());
        DistributedLock lock = rig.client(line).lock(rig.name(), RETAINED.lease(rig.brief()));
        Hold first = lock.acquire();
        first.close();
        LockClient rival = rig.client();
        line.lose(true);

        Hold theirs = rig.patience
                .times(4)
                .untilPresent("the rival to hold", () -> rival.lock(lock.name()).tryAcquire());
        line.lose(false);

        assertThat(theirs.token()).isGreaterThan(first.token());
        assertThat(lock.tryAcquire()).isEmpty();
        theirs.close();
        try (Hold fresh = lock.acquire()) {
            assertThat(fresh.token()).isGreaterThan(theirs.token());
        }
    }

    @Test
    void aRetainedLockThatWasBrokenIsNotHandedOutBesideItsNextHolder() throws Exception {
        assumeReports();
        DistributedLock lock = rig.client().lock(rig.name(), RETAINED.lease(rig.brief()));
        lock.acquire().close();
        assertThat(rig.raw().breakShown(lock.name(), false)).isTrue();
        CompletableFuture<Hold> next = rig.client().lock(lock.name()).acquireAsync();

        try (Hold theirs = rig.patience.times(4).result(next, "the next holder of a broken lock")) {
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(theirs.isValid()).isTrue();
        }
    }

    /** Not at the next renewal only, which is 20 seconds away. */
    @Test
    void aRetainedLockThatWasBrokenIsGivenUpSoon() throws Exception {
        assumeReports();
        DistributedLock lock = rig.client().lock(rig.name(), RETAINED);
        Hold first = lock.acquire();
        first.close();
        assertThat(rig.raw().breakShown(lock.name(), true)).isTrue();

        Hold fresh = rig.patience.untilPresent(
                "the client to notice that its lock is gone", () -> holdOfAnotherNumber(lock, first));
        fresh.close();
    }

    /** A hold by another grant than an earlier one; another by the same grant is closed, or lost as it ought to be. */
    private static Optional<Hold> holdOfAnotherNumber(DistributedLock lock, Hold earlier) {
        Optional<Hold> again = lock.tryAcquire();
        if (again.isPresent() && again.get().token() - earlier.token() < TOKENS_PER_NUMBER) {
            closeWhatMayBeLost(again.get());
            return Optional.empty();
        }
        return again;
    }

    private static void closeWhatMayBeLost(Hold hold) {
        try {
            hold.close();
        } catch (HoldLostException noticed) {
            assertThat(noticed.loss().token()).isEqualTo(hold.token());
        }
    }

    /** Nobody releases it, and so nobody would hear that it was gone before the close. */
    @Test
    void aHoldOfALockThatWasBrokenAndIsRetainedThenIsReported() throws Exception {
        assumeReports();
        Hold hold = rig.client().lock(rig.name(), RETAINED).acquire();
        CountDownLatch reported = new CountDownLatch(1);
        hold.onLost(loss -> reported.countDown());
        assertThat(rig.raw().breakShown(hold.name(), true)).isTrue();

        closeWhatMayBeLost(hold);

        rig.patience.until("the loss to be reported", () -> reported.getCount() == 0);
    }

    @Test
    void closingItsClientReleasesARetainedLock() throws Exception {
        assumeReports();
        LockClient client = rig.client();
        DistributedLock lock = client.lock(rig.name(), RETAINED);
        lock.acquire().close();

        client.close();

        rig.raw().claimOnce(lock.name());
    }

    @Test
    void clientsThatRetainALockExcludeEachOther() {
        assumeReports();
        String name = rig.name();
        CriticalSection section = new CriticalSection();
        List<Future<?>> threads = new ArrayList<>();
        for (int c = 0; c < 3; c++) {
            LockClient client = rig.client();
            for (int t = 0; t < 2; t++) {
                threads.add(rig.fork(() -> {
                    for (int i = 0; i < PASSES; i++) {
                        try (Hold hold = client.lock(name, RETAINED).acquire()) {
                            section.pass(hold);
                        }
                    }
                    return true;
                }));
            }
        }
        threads.forEach(each -> rig.patience.times(4).result(each, "threads taking turns at '" + name + "'"));
        section.assertPassed(6 * PASSES);
    }
}
