package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A retained grant beside what else can happen to a grant: losses, late messages, other options, many callers. */
@Timeout(120)
class RetainedGrantTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final HoldOptions RETAINED =
            HoldOptions.defaults().lease(LEASE).retain(Duration.ofMinutes(5));

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final UnreliableStore line = new UnreliableStore(memory.open(time));
    private final List<Loss> losses = new CopyOnWriteArrayList<>();
    private final LockClient client = LockClient.builder(line)
            .time(time)
            .executor(Runnable::run)
            .listener(new LockListener() {
                @Override
                public void onLost(Loss loss) {
                    losses.add(loss);
                }
            })
            .build();
    private final LockClient rival = LockClient.builder(memory.open(time))
            .time(time)
            .executor(Runnable::run)
            .build();
    private final DistributedLock lock = client.lock("a", RETAINED);

    {
        line.losesSuspects = true; // a break is found by the next renewal, as where a store loses a grant unnoticed
    }

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    private void untilTheNextRenewal() {
        time.advance(LEASE.dividedBy(3).plusSeconds(1));
    }

    private void breakNow(String name) {
        LockStatus.Held shown = rival.lock(name).status().grant().orElseThrow();
        assertThat(rival.breakGrant(name, shown.token(), true)).isTrue();
    }

    @Test
    void theLastHolderSaysHowLongItIsRetained() throws Exception {
        lock.acquire().close();
        client.lock("a", RETAINED.retain(Duration.ofSeconds(2))).acquire().close();

        time.advance(Duration.ofSeconds(3));

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aLongerTimeOfALaterHolderCountsToo() throws Exception {
        client.lock("a", RETAINED.retain(Duration.ofSeconds(2))).acquire().close();
        lock.acquire().close();

        time.advance(Duration.ofSeconds(3));

        assertThat(rival.lock("a").tryAcquire()).isEmpty();
    }

    @Test
    void aHolderWhoDoesNotRetainItReleasesIt() throws Exception {
        lock.acquire().close();
        client.lock("a").acquire().close();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aMessageThatComesAfterItWasTakenAgainEndsItAtTheClose() throws Exception {
        lock.acquire().close();
        line.losesWanted = true;
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        Hold again = lock.acquire();

        untilTheNextRenewal();
        assertThat(theirs).isNotDone();
        assertThat(again.isValid()).isTrue();
        again.close();

        assertThat(theirs).isCompleted();
        assertThat(theirs.join().token()).isGreaterThan(again.token());
        theirs.join().close();
    }

    @Test
    void aLossWhileNobodyUsesItIsNobodysLoss() throws Exception {
        AtomicInteger told = new AtomicInteger();
        Hold first = lock.acquire();
        first.onLost(loss -> told.incrementAndGet());
        time.advance(Duration.ofMillis(1));
        first.close();
        untilTheNextRenewal();
        breakNow("a");

        untilTheNextRenewal();
        Hold fresh = lock.acquire();

        assertThat(fresh.token()).isGreaterThan(first.token() + 1023);
        assertThat(told).hasValue(0);
        assertThat(client.statistics().losses()).isZero();
        assertThat(client.statistics().lateLosses()).isZero();
        assertThat(losses).isEmpty();
        fresh.close();
    }

    @Test
    void aRetainedLockThatWasBrokenIsGivenUpAtOnce() throws Exception {
        line.losesSuspects = false;
        Hold first = lock.acquire();
        first.close();

        breakNow("a");

        assertThat(rival.lock("a").tryAcquire()).isPresent();
        assertThat(lock.tryAcquire()).isEmpty();
    }

    @Test
    void aHoldThatWasClosedAfterTheStoreHadLostTheLockIsReported() throws Exception {
        lock.acquire().close();
        breakNow("a");
        Hold late = lock.acquire();
        CountDownLatch told = new CountDownLatch(1);
        late.onLost(loss -> told.countDown());
        assertThat(rival.lock("a").tryAcquire()).as("meanwhile").isPresent();
        late.close();

        untilTheNextRenewal();

        told.await();
        assertThat(client.statistics().lateLosses()).isOne();
        assertThat(losses).extracting(Loss::token).containsExactly(late.token());
    }

    @Test
    void aReentrantHoldThatNobodyRefersToAnyMoreIsReportedToo() throws Exception {
        DistributedLock reentrant = client.lock("a", RETAINED.reentrant(true));
        reentrant.acquire().close();
        breakNow("a");
        CountDownLatch told = new CountDownLatch(1);
        useOnce(reentrant, told::countDown);
        Garbage.collect();

        untilTheNextRenewal();

        told.await();
        assertThat(client.statistics().lateLosses()).isOne();
    }

    private static void useOnce(DistributedLock lock, Runnable ifLost) throws InterruptedException {
        Hold hold = lock.acquire();
        hold.onLost(loss -> ifLost.run());
        hold.close();
    }

    @Test
    void whatALossWouldHaveRunIsFreeOnceARenewalHasConfirmedTheClose() throws Exception {
        CountDownLatch action = new CountDownLatch(1);
        WeakReference<CountDownLatch> seen = new WeakReference<>(action);
        useOnce(lock, action::countDown);
        action = null;
        time.advance(Duration.ofMillis(1));
        Garbage.collect();
        assertThat(seen.get()).as("the hold may turn out to be lost").isNotNull();

        untilTheNextRenewal();
        Garbage.collect();

        assertThat(seen.get()).isNull();
    }

    @Test
    void aHoldThatWasClosedBeforeTheLastRenewalIsNotLostWhenTheLockGoesBack() throws Exception {
        AtomicInteger told = new AtomicInteger();
        Hold hold = client.lock("a", RETAINED.retain(LEASE.dividedBy(2))).acquire();
        hold.onLost(loss -> told.incrementAndGet());
        time.advance(Duration.ofMillis(1));
        hold.close();
        untilTheNextRenewal();
        breakNow("a");

        time.advance(LEASE.dividedBy(3).minusSeconds(2)); // it goes back before the next renewal

        assertThat(rival.lock("a").tryAcquire()).isPresent();
        assertThat(told).hasValue(0);
        assertThat(client.statistics().lateLosses()).isZero();
        assertThat(losses).isEmpty();
    }

    @Test
    void aLossBeforeTheCloseIsReportedWhenTheClientCloses() throws Exception {
        Hold late = lock.acquire();
        List<Loss> told = new CopyOnWriteArrayList<>();
        late.onLost(told::add);
        breakNow("a");
        assertThat(rival.lock("a").tryAcquire()).as("meanwhile").isPresent();
        late.close();

        client.close();

        assertThat(client.statistics().lateLosses()).isOne();
        await().untilAsserted(() -> {
            assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.GONE_FROM_STORE);
            assertThat(losses).extracting(Loss::token).containsExactly(late.token());
        });
    }

    @Test
    void aLossAfterARenewalHasConfirmedTheCloseIsNotReportedWhenTheClientCloses() throws Exception {
        Hold inTime = lock.acquire();
        time.advance(Duration.ofMillis(1));
        inTime.close();
        untilTheNextRenewal();
        breakNow("a");

        client.close();

        assertThat(losses).isEmpty();
        assertThat(client.statistics().lateLosses()).isZero();
    }

    @Test
    void retainedLocksWhoseRenewalWaitsForItsTurnAreTakenAgain() throws Exception {
        int locks = 1_500; // the second batch waits for the answer to the first
        for (int i = 0; i < locks; i++) {
            client.lock("n" + i, RETAINED).acquire().close();
        }
        line.holdRenewalReplies = new CompletableFuture<>();
        untilTheNextRenewal();
        assertThat(line.renewalRequests).as("batches sent").hasValue(1);

        for (int i = 0; i < locks; i++) {
            client.lock("n" + i, RETAINED).acquire().close();
        }

        assertThat(line.claimRequests).hasValue(locks);
        assertThat(line.releaseRequests).hasValue(0);
    }

    @Test
    void aLossWhileItIsUsedAgainIsToldToThatHolderAlone() throws Exception {
        List<Loss> told = new CopyOnWriteArrayList<>();
        CountDownLatch latch = new CountDownLatch(1);
        Hold first = lock.acquire();
        first.onLost(told::add);
        first.close();
        Hold again = lock.acquire();
        again.onLost(loss -> {
            told.add(loss);
            latch.countDown();
        });
        breakNow("a");

        untilTheNextRenewal();

        latch.await();
        assertThat(told).extracting(Loss::token).containsExactly(again.token());
        assertThatThrownBy(again::close).isInstanceOf(HoldLostException.class);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aThreadEntersARetainedLockAgainAndHearsOfItsLoss() throws Exception {
        DistributedLock mine = client.lock("a", RETAINED.reentrant(true));
        mine.acquire().close();
        long before = client.statistics().storeCalls();
        Hold outer = mine.acquire();
        Hold inner = mine.acquire();
        assertThat(inner.token()).isEqualTo(outer.token());
        inner.close();
        assertThat(outer.isValid()).isTrue();
        outer.close();
        Hold next = mine.acquire();
        assertThat(next.token()).isEqualTo(outer.token() + 1);
        assertThat(client.statistics().storeCalls()).isEqualTo(before);
        CountDownLatch lost = new CountDownLatch(1);
        next.onLost(loss -> lost.countDown());

        breakNow("a");
        untilTheNextRenewal();

        lost.await();
        assertThatThrownBy(next::close).isInstanceOf(HoldLostException.class);
        mine.acquire().close();
    }

    @Test
    void aJavaLockIsRetainedAsWell() {
        Lock mine = lock.asLock();
        mine.lock();
        mine.unlock();
        long before = client.statistics().storeCalls();

        for (int i = 0; i < 10; i++) {
            mine.lock();
            mine.unlock();
        }

        assertThat(client.statistics().storeCalls()).isEqualTo(before);
    }

    @Test
    void theMaximumHoldTimeBeginsAnewWithEachHold() throws Exception {
        DistributedLock bounded = client.lock("a", RETAINED.maxHold(Duration.ofSeconds(25)));
        for (int i = 0; i < 4; i++) {
            Hold hold = bounded.acquire();
            time.advance(Duration.ofSeconds(10));
            time.advance(Duration.ofSeconds(10));
            assertThat(hold.isValid()).isTrue();
            hold.close();
        }
        assertThat(line.claimRequests).hasValue(1);

        Hold hung = bounded.acquire();
        for (int i = 0; i < 12; i++) {
            time.advance(Duration.ofSeconds(5));
        }

        assertThat(hung.isValid()).isFalse();
        assertThatThrownBy(hung::close).isInstanceOf(HoldLostException.class);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aHoldWhoseRenewalStoppedIsNotRetained() throws Exception {
        Hold hung = client.lock("a", RETAINED.maxHold(Duration.ofSeconds(5))).acquire();
        time.advance(Duration.ofSeconds(11));
        assertThat(hung.isValid()).as("until the lease ends").isTrue();

        hung.close();

        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aLockInUseIsNotReleasedForAnother() throws Exception {
        Hold inUse = lock.acquire();
        for (int i = 0; i < 10_001; i++) {
            client.lock("n" + i, RETAINED).acquire().close();
        }

        assertThat(inUse.isValid()).isTrue();
        assertThat(rival.lock("n0").tryAcquire()).isPresent();
        inUse.close();
        assertThat(rival.lock("n1").tryAcquire()).isPresent();
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        assertThat(line.releaseRequests).hasValue(2);
    }

    @Test
    void closingTheClientReleasesAllThatItRetains() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            client.lock("n" + i, RETAINED).acquire().close();
        }

        client.close();

        for (int i = 0; i < 1_000; i++) {
            assertThat(rival.lock("n" + i).tryAcquire()).isPresent();
        }
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void aClosedClientDoesNotRetainWhatIsClosedLater() throws Exception {
        Hold open = lock.acquire();

        client.close();

        assertThatThrownBy(open::close).isInstanceOf(HoldLostException.class);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void anActionIsToldOfARivalThatCameWhileTheLockWasRetained() throws Exception {
        lock.acquire().close();
        line.losesWanted = true;
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        Hold again = lock.acquire();
        CountDownLatch told = new CountDownLatch(1);
        again.onWanted(told::countDown);

        untilTheNextRenewal();

        told.await();
        again.close();
        theirs.join().close();
    }

    @Test
    void manyCallersOfOneClientKeepARetainedLock() {
        int threads = 4;
        int turns = 5_000;
        DistributedLock shared = client.lock("a", RETAINED.handOver(1023, Duration.ofMinutes(1)));
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(CompletableFuture.runAsync(
                    () -> {
                        for (int turn = 0; turn < turns; turn++) {
                            // closed by the thread that hands it over, which may be before this call returns
                            shared.acquireAsync()
                                    .thenAccept(hold -> {
                                        assertThat(inside.incrementAndGet()).isOne();
                                        inside.decrementAndGet();
                                        hold.close();
                                    })
                                    .join();
                        }
                    },
                    task -> new Thread(task).start()));
        }

        all.forEach(CompletableFuture::join);

        assertThat(line.claimRequests.get())
                .as("no more than the tokens of a grant ask for")
                .isLessThanOrEqualTo(threads * turns / 1024 + 1);
    }

    @Test
    void callersWhoWaitHereGetItBeyondTheBoundsOfHandOver() throws Exception {
        DistributedLock bounded = client.lock("a", RETAINED.handOver(2, Duration.ofMillis(5)));
        bounded.acquire().close();
        long before = client.statistics().storeCalls();

        Hold hold = bounded.acquire();
        for (int i = 0; i < 20; i++) {
            CompletableFuture<Hold> next = bounded.acquireAsync();
            time.advance(Duration.ofMillis(10));
            hold.close();
            hold = next.get();
        }

        assertThat(client.statistics().storeCalls()).isEqualTo(before);
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();
        CompletableFuture<Hold> mine = bounded.acquireAsync();
        hold.close();
        assertThat(theirs)
                .as("beyond the bounds, once somebody waits elsewhere")
                .isCompleted();
        assertThat(mine).isNotDone();
        theirs.join().close();
        mine.get().close();
    }

    @Test
    void theBoundsCountWhereTheStoreDoesNotWatch() throws Exception {
        line.watches = UnreliableStore.Line.REQUEST_LOST;
        DistributedLock bounded = client.lock("a", RETAINED.handOver(2, Duration.ofMillis(5)));
        line.losesWanted = true;
        Hold hold = bounded.acquire();
        CompletableFuture<Hold> theirs = rival.lock("a").acquireAsync();

        for (int i = 0; i < 4 && !theirs.isDone(); i++) {
            CompletableFuture<Hold> next = bounded.acquireAsync();
            hold.close();
            if (!theirs.isDone()) {
                hold = next.get();
            }
        }

        assertThat(theirs).isCompleted();
        theirs.join().close();
    }

    @Test
    void callersOfOneClientWaitForARetainedLockOnAStoreThatGivesNoFreshNumbers() throws Exception {
        UnreliableStore plain = new UnreliableStore(memory.open(time), false);
        try (LockClient other =
                LockClient.builder(plain).time(time).executor(Runnable::run).build()) {
            DistributedLock shared = other.lock("b", RETAINED);
            long last = 0;
            Hold hold = shared.acquire();
            for (int i = 0; i < 5_000; i++) {
                assertThat(hold.token()).isGreaterThan(last);
                last = hold.token();
                if (i % 3 == 0) {
                    CompletableFuture<Hold> next = shared.acquireAsync();
                    hold.close();
                    hold = next.get();
                } else {
                    hold.close();
                    hold = shared.acquire();
                }
            }
            hold.close();
        }
    }
}
