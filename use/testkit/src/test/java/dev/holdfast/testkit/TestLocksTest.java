package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Candidacy;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockEvent;
import dev.holdfast.Loss;
import dev.holdfast.OnceOptions;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.Term;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TestLocksTest {
    @AutoClose
    private final TestLocks locks = TestLocks.standing();

    private final LockClient client = locks.client();
    private final DistributedLock lock = client.lock("order:42");

    private static Duration s(long seconds) {
        return Duration.ofSeconds(seconds);
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    // ---- lose ----

    @Test
    void aHoldThatIsLostNowIsToldBeforeTheCallReturns() throws InterruptedException {
        List<Loss> told = new CopyOnWriteArrayList<>();
        Hold hold = lock.acquire();
        hold.onLost(told::add);
        assertThat(hold.isValid()).isTrue();

        locks.lose(hold);

        assertThat(hold.isValid()).isFalse();
        assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.SESSION_ENDED);
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        assertThat(locks.events()).contains(told.get(0));
    }

    @Test
    void theNextInTheQueueHasALostLockWithAHigherToken() throws InterruptedException {
        Hold hold = lock.acquire();
        CompletableFuture<Hold> theirs = locks.somebodyElse().waitFor("order:42");
        assertThat(theirs).isNotDone();

        locks.lose("order:42");

        assertThat(theirs.join().isValid()).isTrue();
        assertThat(theirs.join().token()).isGreaterThan(hold.token());
    }

    @Test
    void whatNobodyHoldsCannotBeLost() throws InterruptedException {
        locks.somebodyElse().take("order:42");
        client.lock("order:43").acquire().detach();

        assertThatThrownBy(() -> locks.lose("order:42"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'order:42'")
                .hasMessageContaining("[order:43]");
        assertThatThrownBy(() -> locks.pauseHolder("order:42")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void oneReaderIsLostAndTheOtherReadsOn() throws InterruptedException {
        Hold one = client.readWriteLock("prices").read().acquire();
        Hold two = locks.anotherClient().readWriteLock("prices").read().acquire();

        locks.lose(one);

        assertThat(one.isValid()).isFalse();
        assertThat(two.isValid()).isTrue();
    }

    // ---- pause ----

    @Test
    void aHolderThatWasPausedPastItsLeaseComesBackWithoutTheLock() throws InterruptedException {
        Hold hold = lock.acquire();
        CompletableFuture<Hold> theirs = locks.somebodyElse().waitFor("order:42");

        locks.pauseHolder("order:42");

        assertThat(theirs).isDone();
        assertThat(hold.isValid()).isFalse();
        assertThatThrownBy(hold::close)
                .isInstanceOf(HoldLostException.class)
                .hasMessageContaining("before a renewal was confirmed");
    }

    @Test
    void othersActWhileTheHolderStands() throws InterruptedException {
        Hold hold = lock.acquire();
        List<Long> tokens = new ArrayList<>();
        locks.pauseHolder("order:42", () -> {
            Hold theirs = locks.somebodyElse().take("order:42");
            tokens.add(theirs.token());
            theirs.close();
        });
        assertThat(tokens.get(0)).isGreaterThan(hold.token());
        assertThat(lock.tryAcquire()).isPresent();
    }

    @Test
    void aPauseWithinTheLeaseCostsNothing() throws InterruptedException {
        Hold hold = lock.acquire();
        locks.pause(client, s(20));
        assertThat(hold.isValid()).isTrue();
        locks.advance(s(3600));
        assertThat(hold.isValid()).isTrue();
        hold.close();
        assertThat(locks.events()).noneMatch(Loss.class::isInstance);
    }

    @Test
    void aGrantThatComesDuringAPauseIsDeliveredAfterIt() throws InterruptedException {
        LockClient second = locks.anotherClient();
        Hold hold = lock.acquire();
        CompletableFuture<Hold> waits = second.lock("order:42").acquireAsync();
        locks.pause(second, s(5), hold::close);
        assertThat(waits.join().isValid()).isTrue();
        assertThat(waits.join().remaining()).isLessThanOrEqualTo(s(30));
    }

    // ---- the store ----

    @Test
    void aHoldOutlivesFiveSecondsWithoutTheStore() throws InterruptedException {
        Hold hold = lock.acquire();
        locks.advance(s(8));
        locks.storeAway(s(5));
        assertThat(hold.isValid()).isTrue();
        locks.advance(s(60));
        assertThat(hold.isValid()).isTrue();
        assertThat(locks.events()).anyMatch(LockEvent.RenewalFailed.class::isInstance);
        hold.close();
        locks.assertReleased("order:42");
    }

    @Test
    void aHoldIsLostWhenTheStoreIsAwayForLongerThanTheLease() throws InterruptedException {
        Hold hold = lock.acquire();
        locks.storeAway(s(31));
        assertThat(hold.isValid()).isFalse();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        assertThat(lock.tryAcquire())
                .as("once the lease has run out in the store")
                .isPresent();
    }

    @Test
    void aTryWithoutTheStoreFailsAndDoesNotSayTaken() {
        locks.storeAway();
        assertThatThrownBy(lock::tryAcquire)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("away");
        locks.storeBack();
        assertThat(lock.tryAcquire()).isPresent();
    }

    @Test
    void theStoreIsAwayForAClientThatIsMadeMeanwhileToo() {
        locks.storeAway();
        DistributedLock late = locks.anotherClient().lock("order:42");
        assertThatThrownBy(late::tryAcquire).isInstanceOf(StoreUnavailableException.class);
        locks.storeBack();
        assertThat(late.tryAcquire()).isPresent();
    }

    @Test
    void aCallerWaitsThroughAnOutage() throws Exception {
        locks.storeAway();
        FutureTask<Hold> waits = start(lock::acquire);
        locks.awaitWaiting(1);
        locks.advance(s(30));
        assertThat(waits).isNotDone();
        locks.storeBack();
        assertThat(waits.get().isValid()).isTrue();
    }

    @Test
    void aCallerWithoutALimitGivesUpAfterTheOutageLimit() {
        locks.storeAway();
        FutureTask<Hold> waits = start(lock::acquire);
        await().until(() -> {
            locks.advance(s(70)); // the minute begins when the caller finds the store away
            return waits.isDone();
        });
        assertThatThrownBy(waits::get).hasRootCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void waitingClaimsKeepTheirOrderThroughAnOutage() {
        Hold held = lock.tryAcquire().orElseThrow();
        CompletableFuture<Hold> second = locks.somebodyElse().waitFor("order:42");
        CompletableFuture<Hold> third = locks.somebodyElse().waitFor("order:42");
        locks.storeAway(s(5));
        held.close();
        assertThat(second).isDone();
        assertThat(third).isNotDone();
        second.join().close();
        assertThat(third).isDone();
    }

    @Test
    void aLockOfAClientThatWasClosedWhileItWasCutOffStaysUntilItsLeaseEnds() throws InterruptedException {
        lock.acquire().detach();
        locks.cutOff(client);
        client.close();

        assertThatThrownBy(() -> locks.assertReleased("order:42"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("'order:42'");
        locks.advance(s(31));
        locks.assertReleased("order:42");
    }

    @Test
    void oneClientAloneIsCutOff() throws InterruptedException {
        LockClient second = locks.anotherClient();
        Hold hold = lock.acquire();
        CompletableFuture<Hold> next = second.lock("order:42").acquireAsync();
        locks.cutOff(client);
        locks.advance(s(31));
        assertThat(hold.isValid()).isFalse();
        assertThat(next.join().isValid()).isTrue();
        locks.reconnect(client);
        assertThat(lock.tryAcquire()).isEmpty();
    }

    // ---- time ----

    @RepeatedTest(20)
    void aTimedWaitEndsWhenTimeIsMoved() throws Exception {
        Hold theirs = locks.somebodyElse().take("order:42");
        FutureTask<Optional<Hold>> waits = start(() -> lock.tryAcquire(s(2)));
        locks.awaitWaiting(1);
        locks.advance(s(2));
        assertThat(waits.get()).isEmpty();
        assertThat(locks.elapsed()).isEqualTo(s(2));
        assertThat(theirs.isValid()).isTrue();
    }

    @Test
    void aLeaseWithoutRenewalEndsByTheClockAlone() throws InterruptedException {
        Hold hold = client.lock("job", HoldOptions.defaults().autoRenew(false)).acquire();
        locks.advance(s(29));
        assertThat(hold.isValid()).isTrue();
        locks.advance(s(1));
        assertThat(hold.isValid()).isFalse();
    }

    @Test
    void workOfTheNightRunsOnceANight() {
        try (TestLocks nights = TestLocks.standingAt(Instant.parse("2026-03-01T12:00:00Z"))) {
            List<String> runs = new ArrayList<>();
            var nightly = nights.client().once("report", OnceOptions.every(Duration.ofDays(1)));
            for (int day = 0; day < 3; day++) {
                nightly.run(turn -> runs.add("ran"));
                nightly.run(turn -> runs.add("ran again"));
                nights.advance(Duration.ofDays(1));
            }
            assertThat(runs).containsExactly("ran", "ran", "ran");
        }
    }

    @Test
    void timeThatFlowsEndsAWaitByItself() throws InterruptedException {
        try (TestLocks flowing = TestLocks.flowing()) {
            flowing.somebodyElse().take("order:42");
            assertThat(flowing.client().lock("order:42").tryAcquire(Duration.ofMillis(20)))
                    .isEmpty();
            Hold hold = flowing.client().lock("other").acquire();
            flowing.advance(s(3600));
            assertThat(hold.isValid()).isTrue();
            flowing.pauseHolder("other");
            assertThat(hold.isValid()).isFalse();
        }
    }

    @Test
    void timeDoesNotMoveBack() {
        assertThatThrownBy(() -> locks.advance(s(-1))).isInstanceOf(IllegalArgumentException.class);
    }

    // ---- others ----

    @Test
    void somebodyElseHasTheLockAsSoonAsItIsReleased() throws InterruptedException {
        Contender other = locks.somebodyElse();
        CompletableFuture<Hold> theirs;
        try (Hold hold = lock.acquire()) {
            theirs = other.waitFor("order:42");
            assertThat(hold.isValid()).isTrue();
            assertThat(lock.status().waiting()).isEqualTo(1);
        }
        assertThat(theirs).isDone();
        assertThatThrownBy(() -> locks.somebodyElse().take("order:42"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("somebody else");
    }

    @Test
    void aSecondServerLeadsWhenTheFirstStands() throws InterruptedException {
        try (Candidacy one = client.election("billing").stand()) {
            Term first = one.awaitTerm();
            try (Candidacy two = locks.anotherClient().election("billing").stand()) {
                locks.awaitWaiting(1);
                locks.pause(client, s(31));
                Term second = two.awaitTerm();
                assertThat(first.isValid()).isFalse();
                assertThat(second.token()).isGreaterThan(first.token());
            }
        }
    }

    @Test
    void aClientWithANamespaceIsKnownByTheNameInTheStore() throws InterruptedException {
        LockClient spaced = locks.anotherClient(builder -> builder.namespace("shop"));
        Hold hold = spaced.lock("order:42").acquire();
        locks.assertReleased("order:42");
        locks.lose("shop:order:42");
        assertThat(hold.isValid()).isFalse();
    }

    // ---- assertions ----

    @Test
    void aHoldThatIsOpenIsNotReleased() throws InterruptedException {
        locks.assertAllReleased();
        assertThatThrownBy(() -> locks.assertHeld("order:42"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("'order:42'");
        Hold hold = lock.acquire();
        locks.assertHeld("order:42");
        assertThatThrownBy(() -> locks.assertReleased("order:42"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("'order:42' (token " + hold.token() + ")");
        assertThatThrownBy(locks::assertAllReleased).isInstanceOf(AssertionError.class);
        locks.assertReleased("order:43");
        hold.close();
        locks.assertAllReleased();
    }

    @Test
    void twoInASectionAtOnceAreSeen() {
        Section section = locks.section("payment");
        section.enter().close();
        section.enter().close();
        section.assertNeverOverlapped();

        try (Section.Inside one = section.enter();
                Section.Inside two = section.enter()) {
            assertThat(one).isNotSameAs(two);
        }
        assertThatThrownBy(section::assertNeverOverlapped)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("'payment' overlapped 1 time(s)");
    }

    @Test
    void aWriteAfterTheLossIsSeen() throws InterruptedException {
        Writes writes = locks.writes("order:42");
        Hold hold = lock.acquire();
        writes.note(hold.token());
        writes.assertOnlyByHolders();
        locks.lose(hold);
        writes.note(hold.token());
        assertThatThrownBy(writes::assertOnlyByHolders)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("write 2 of 2");
        writes.assertTokensNeverFall();
    }

    @Test
    void aWriteUnderALowerTokenIsSeen() throws InterruptedException {
        Writes writes = locks.writes("order:42");
        Hold hold = lock.acquire();
        locks.lose(hold);
        Hold next = locks.somebodyElse().take("order:42");
        writes.note(next.token());
        writes.note(hold.token());
        assertThat(writes.tokens()).containsExactly(next.token(), hold.token());
        assertThatThrownBy(writes::assertTokensNeverFall).isInstanceOf(AssertionError.class);
    }

    @Test
    void aWriteAfterTheCloseIsSeenAlsoWhereAWaiterOfTheSameClientHasTheGrant() throws Exception {
        Writes writes = locks.writes("order:42");
        Hold first = lock.acquire();
        CompletableFuture<Hold> next = lock.acquireAsync();
        locks.awaitWaiting(1);
        first.close();
        Hold second = next.get();
        assertThat(second.token()).isEqualTo(first.token() + 1);

        writes.note(second.token());
        writes.assertOnlyByHolders();
        writes.note(first.token());
        assertThatThrownBy(writes::assertOnlyByHolders)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("write 2 of 2");
        second.close();
    }

    @Test
    void readersThatShareATokenWriteUntilTheLastHasClosed() throws InterruptedException {
        LockClient spaced = locks.anotherClient(builder -> builder.namespace("shop"));
        Writes writes = locks.writes("shop:prices");
        Hold one = spaced.readWriteLock("prices").read().acquire();
        Hold two = spaced.readWriteLock("prices").read().acquire();
        assertThat(two.token()).isEqualTo(one.token());
        one.close();
        writes.note(two.token());
        writes.assertOnlyByHolders();
        two.close();
        writes.note(two.token());
        assertThatThrownBy(writes::assertOnlyByHolders).hasMessageContaining("write 2 of 2");
    }

    @Test
    void anAssertionAboutWhatNeverHappenedFails() {
        Writes writes = locks.writes("order:42");
        assertThatThrownBy(writes::assertOnlyByHolders)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("no write was noted under 'order:42'");
        assertThatThrownBy(writes::assertTokensNeverFall).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> locks.section("payment").assertNeverOverlapped())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("nobody entered 'payment'");
    }

    @Test
    void theHoldOfOneClientExcusesNoOther() throws InterruptedException {
        LockClient second = locks.anotherClient();
        Hold theirs = second.lock("order:42").acquire();
        assertThatThrownBy(() -> locks.assertHeld("order:42"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("assertHeld(client, name)");
        assertThatThrownBy(() -> locks.assertHeld(client, "order:42"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("held are []");
        locks.assertHeld(second, "order:42");
        theirs.close();
    }

    @Test
    void somebodyElseLosesNothingWhenTheTestEnds() {
        List<String> logged = new CopyOnWriteArrayList<>();
        Handler ear = new Handler() {
            @Override
            public void publish(LogRecord line) {
                logged.add(line.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("dev.holdfast");
        logger.addHandler(ear);
        try (TestLocks ending = TestLocks.standing()) {
            Contender other = ending.somebodyElse();
            assertThat(other.take("order:42").isValid()).isTrue();
            assertThat(other.waitFor("order:42")).isNotDone();
            assertThat(ending.somebodyElse().waitFor("order:42")).isNotDone();
        } finally {
            logger.removeHandler(ear);
        }
        assertThat(logged).isEmpty();
    }
}
