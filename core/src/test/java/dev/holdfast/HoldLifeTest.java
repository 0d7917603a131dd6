package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.memory.ManualTime;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Store;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How a hold lives and ends, on a clock that moves when told. */
@Timeout(120)
class HoldLifeTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final HoldOptions FIXED = HoldOptions.defaults().autoRenew(false);

    private final ManualTime time = new ManualTime();
    private final MemoryStore memory = new MemoryStore(time);
    private final UnreliableStore line = new UnreliableStore(memory.open(time));
    private final LockClient client = LockClient.builder(line).time(time).build();
    private final LockClient rival =
            LockClient.builder(memory.open(time)).time(time).build();
    private final List<Loss> losses = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        client.close();
        rival.close();
    }

    @Test
    void anOpenHoldIsRenewedForAsLongAsItIsOpen() throws InterruptedException {
        try (Hold hold = client.lock("a").acquire()) {
            for (int i = 0; i < 100; i++) {
                time.advance(Duration.ofSeconds(7));
                assertThat(hold.isValid()).isTrue();
                assertThat(rival.lock("a").tryAcquire()).isEmpty();
            }
        }
        int renewals = line.renewalRequests.get();
        time.advance(LEASE.multipliedBy(3));
        assertThat(line.renewalRequests).as("renewal stops at close").hasValue(renewals);
    }

    @Test
    void aHoldSaysHowLongAgoItWasAcquired() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        time.advance(Duration.ofSeconds(7));
        assertThat(hold.heldFor()).isEqualTo(Duration.ofSeconds(7));
        hold.close();
        time.advance(Duration.ofSeconds(1));
        assertThat(hold.heldFor()).as("also after its end").isEqualTo(Duration.ofSeconds(8));
    }

    @Test
    void severalLocksAreHeldForAsLongAsTheLastOfThem() throws InterruptedException {
        Hold first = rival.lock("b").acquire();
        CompletableFuture<MultiHold> both = client.multiLock(List.of("c", "b")).acquireAsync();
        time.advance(Duration.ofSeconds(3));
        first.close();
        try (MultiHold held = both.join()) {
            time.advance(Duration.ofSeconds(2));
            assertThat(held.heldFor()).isEqualTo(Duration.ofSeconds(2));
        }
    }

    @Test
    void aFixedLeaseEndsBeforeTheStoreLetsAnotherIn() throws InterruptedException {
        Hold hold = client.lock("a", FIXED).acquire();
        hold.onLost(losses::add);
        time.advance(Duration.ofMillis(29_699));
        assertThat(hold.isValid()).isTrue();
        time.advance(Duration.ofMillis(2));
        assertThat(hold.isValid()).as("valid up to 1 % before the lease ends").isFalse();
        assertThat(rival.lock("a").tryAcquire()).as("not yet").isEmpty();
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.FIXED_LEASE_ENDED);
        assertThat(losses.get(0).message()).contains("not renewed").doesNotContain("stalled");
        time.advance(Duration.ofMillis(300));
        Hold next = rival.lock("a").tryAcquire().orElseThrow();
        assertThat(next.token()).isGreaterThan(hold.token());
        assertThatThrownBy(hold::close)
                .isInstanceOf(HoldLostException.class)
                .hasMessageContaining("'a'")
                .hasMessageContaining("mem:");
        hold.close(); // the second time it does nothing
        assertThat(next.isValid()).as("a stale close frees nobody else's").isTrue();
        next.close();
    }

    @Test
    void extendMovesAFixedLease() throws InterruptedException {
        Hold hold = client.lock("a", FIXED).acquire();
        time.advance(Duration.ofSeconds(20));
        hold.extend(Duration.ofSeconds(60));
        assertThat(hold.remaining()).isBetween(Duration.ofSeconds(58), Duration.ofSeconds(60));
        time.advance(Duration.ofSeconds(50));
        assertThat(hold.isValid()).isTrue();
        hold.extend(Duration.ofMillis(100));
        assertThat(hold.remaining()).as("it can be made shorter").isLessThan(Duration.ofMillis(100));
        hold.close();
        assertThatThrownBy(() -> hold.extend(LEASE)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void extendSaysWhenTheHoldIsLostOrRenewsItself() throws InterruptedException {
        Hold renewed = client.lock("b").acquire();
        assertThatThrownBy(() -> renewed.extend(LEASE)).isInstanceOf(IllegalStateException.class);
        renewed.close();
        Hold broken = client.lock("a", FIXED).acquire();
        Breaking.shown(rival, "a", true);
        assertThatThrownBy(() -> broken.extend(LEASE)).isInstanceOf(HoldLostException.class);
        assertThat(broken.isValid()).isFalse();
        Hold unreachable = client.lock("c", FIXED).acquire();
        line.renewals = UnreliableStore.Line.REQUEST_LOST;
        assertThatThrownBy(() -> unreachable.extend(LEASE)).isInstanceOf(StoreUnavailableException.class);
        assertThat(unreachable.isValid()).as("the present lease stands").isTrue();
        unreachable.close();
    }

    @Test
    void aBrokenLockIsLostAtTheNextRenewalAndFreeWhenItsLeaseHasRunOut() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        assertThat(Breaking.shown(rival, "a", false)).isTrue();
        time.advance(Duration.ofSeconds(11));
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.GONE_FROM_STORE);
        assertThat(hold.isValid()).isFalse();
        assertThat(rival.lock("a").tryAcquire()).as("the lease has not run out").isEmpty();
        time.advance(Duration.ofSeconds(20));
        assertThat(rival.lock("a").tryAcquire()).isPresent();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aRenewalWithoutAnswerMovesNoDeadline() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        line.renewals = UnreliableStore.Line.REPLY_LOST;
        time.advance(Duration.ofMillis(29_500));
        assertThat(hold.isValid()).as("lost replies prove nothing").isTrue();
        assertThat(line.renewalRequests.get()).as("tried again several times").isGreaterThan(3);
        time.advance(Duration.ofMillis(300));
        assertThat(hold.isValid()).isFalse();
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.NOT_RENEWED_IN_TIME);
        assertThat(rival.lock("a").tryAcquire())
                .as("the renewals did reach the store, so the grant is given back at once")
                .isPresent();
    }

    @Test
    void anAnswerThatComesAfterTheDeadlineRevivesNothing() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Void> gate = new CompletableFuture<>();
        line.holdRenewalReplies = gate;
        time.advance(Duration.ofSeconds(31));
        assertThat(hold.isValid()).isFalse();
        gate.complete(null);
        assertThat(hold.isValid()).isFalse();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void theDeadlineCountsFromTheSendingOfTheRenewalNotFromItsAnswer() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Void> gate = new CompletableFuture<>();
        line.holdRenewalReplies = gate;
        time.advance(Duration.ofSeconds(25)); // sent at 10 s, answered at 25 s
        line.holdRenewalReplies = null;
        line.renewals = UnreliableStore.Line.REQUEST_LOST;
        gate.complete(null);
        assertThat(hold.remaining()).isBetween(Duration.ofSeconds(14), Duration.ofSeconds(15));
        time.advance(Duration.ofSeconds(15));
        assertThat(hold.isValid()).isFalse();
    }

    @Test
    void afterTheMachineSleptAHoldIsInvalidUntilTheStoreConfirmsIt() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Void> gate = new CompletableFuture<>();
        line.holdRenewalReplies = gate;
        time.sleepMachine(Duration.ofSeconds(5));
        assertThat(hold.isValid()).as("in doubt").isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(line.renewalRequests).as("asked at once").hasValue(1);
        gate.complete(null);
        assertThat(hold.isValid()).as("confirmed").isTrue();
        hold.close();
    }

    @Test
    void aFixedLeaseIsConfirmedAfterASleepButNotMadeLonger() throws InterruptedException {
        Hold hold = client.lock("a", FIXED).acquire();
        time.advance(Duration.ofSeconds(20));
        time.sleepMachine(Duration.ofSeconds(5));
        assertThat(hold.isValid()).isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(hold.isValid()).isTrue();
        time.advance(Duration.ofSeconds(11));
        assertThat(hold.isValid()).isFalse();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aSuspectHoldThatTheStoreDoesNotKnowIsLost() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        Breaking.shown(rival, "a", true);
        time.sleepMachine(Duration.ofSeconds(5));
        assertThat(hold.isValid()).isFalse();
        time.advance(Duration.ofMillis(1));
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.GONE_FROM_STORE);
    }

    @Test
    void afterASleepAHoldOfALongLeaseIsExaminedWithTheFirstThatIsDue() throws InterruptedException {
        Hold seldomDue = client.lock("a", HoldOptions.defaults().lease(Duration.ofMinutes(10)))
                .acquire();
        seldomDue.onLost(losses::add);
        Hold oftenDue = client.lock("b").acquire();
        Breaking.shown(rival, "a", true);
        time.sleepMachine(Duration.ofSeconds(8));
        time.advance(Duration.ofSeconds(11)); // a third of the default lease
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.GONE_FROM_STORE);
        oftenDue.close();
    }

    @Test
    void aSleepIsNoticedAlsoWhereTheClockWasSetBackByMoreWhileNothingWasHeld() throws InterruptedException {
        time.sleepMachine(Duration.ofHours(-1));
        Hold seldomDue = client.lock("a", HoldOptions.defaults().lease(Duration.ofMinutes(10)))
                .acquire();
        seldomDue.onLost(losses::add);
        Hold oftenDue = client.lock("b").acquire();
        Breaking.shown(rival, "a", true);
        time.sleepMachine(Duration.ofMinutes(30));
        time.advance(Duration.ofSeconds(11)); // a third of the default lease
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.GONE_FROM_STORE);
        oftenDue.close();
    }

    @Test
    void aSleepIsDetectedEvenIfTheWallClockWasSetBackFurther() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        time.sleepMachine(Duration.ofMinutes(-1));
        assertThat(hold.isValid()).isTrue();
        time.sleepMachine(Duration.ofSeconds(40));
        assertThat(hold.isValid()).as("in doubt").isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(hold.isValid()).as("confirmed").isTrue();
        hold.close();
    }

    @Test
    void theEndOfAHoldIsReportedAlsoWhereItsStoreFailsBeforeItIsAskedToRenew() throws InterruptedException {
        AtomicBoolean broken = new AtomicBoolean();
        Store store = new ForwardedStore(memory.open(time)) {
            @Override
            public String part(String name) {
                if (broken.get()) {
                    throw new IllegalStateException("a defect of the store");
                }
                return super.part(name);
            }
        };
        try (LockClient unlucky = LockClient.builder(store).time(time).build()) {
            unlucky.lock("a").acquire().onLost(losses::add);
            broken.set(true);
            time.advance(Duration.ofSeconds(11));
            time.advance(LEASE);
            await().until(() -> losses.size() == 1);
            assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.NOT_RENEWED_IN_TIME);
            broken.set(false);
        }
    }

    @Test
    void aSmallStepOfTheWallClockIsNoSleep() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        time.sleepMachine(Duration.ofMillis(40));
        assertThat(hold.isValid()).isTrue();
        hold.close();
    }

    @Test
    void theMaximumHoldTimeEndsRenewal() throws InterruptedException {
        Hold hold = client.lock("a", HoldOptions.defaults().maxHold(Duration.ofMinutes(2)))
                .acquire();
        hold.onLost(losses::add);
        time.advance(Duration.ofSeconds(115));
        assertThat(hold.isValid()).isTrue();
        time.advance(Duration.ofSeconds(50));
        assertThat(hold.isValid()).isFalse();
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.MAX_HOLD_REACHED);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aHoldThatNobodyCanCloseAnyMoreIsRenewedNoMore() throws InterruptedException {
        acquireAndDrop();
        await().until(() -> {
            System.gc();
            time.advance(Duration.ofSeconds(10));
            return rival.lock("a").tryAcquire().isPresent();
        });
    }

    private void acquireAndDrop() throws InterruptedException {
        Hold dropped = client.lock("a").acquire();
        dropped.onLost(loss -> losses.add(new Loss(dropped.name(), dropped.token(), loss.cause(), loss.store())));
    }

    @Test
    void aReentrantHoldIsRenewedNoMoreOnceNobodyCanCloseItsLastEntry() throws InterruptedException {
        enterTwiceAndLeaveOnce();
        await().until(() -> {
            System.gc();
            time.advance(Duration.ofSeconds(10));
            return rival.lock("a").tryAcquire().isPresent();
        });
    }

    private void enterTwiceAndLeaveOnce() throws InterruptedException {
        DistributedLock reentrant = client.lock("a", HoldOptions.defaults().reentrant(true));
        Hold outer = reentrant.acquire();
        reentrant.acquire().close();
        assertThat(outer.isValid()).isTrue();
    }

    @Test
    void aDetachedHoldLivesWithoutAReference() throws InterruptedException {
        acquireAndDetach();
        for (int i = 0; i < 20; i++) {
            System.gc();
            time.advance(Duration.ofSeconds(10));
            assertThat(rival.lock("a").tryAcquire()).isEmpty();
        }
    }

    private void acquireAndDetach() throws InterruptedException {
        client.lock("a").acquire().detach();
    }

    @Test
    void whatTheStoreLearnsByItselfIsToldAtOnce() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        dev.holdfast.spi.Grant grant = new dev.holdfast.spi.Grant(
                dev.holdfast.spi.ClaimId.of(hold.id()), "a", dev.holdfast.spi.Mode.EXCLUSIVE, LEASE, 1L, 0);
        line.listener.suspect(grant);
        assertThat(hold.isValid()).isFalse();
        time.advance(Duration.ofMillis(1));
        assertThat(hold.isValid()).as("confirmed by a renewal").isTrue();
        line.listener.lost(grant);
        assertThat(hold.isValid()).isFalse();
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aListenerThatComesLateIsToldAtOnceAndOnlyOnce() throws InterruptedException {
        Hold hold = client.lock("a", FIXED).acquire();
        time.advance(LEASE);
        hold.onLost(losses::add);
        await().until(() -> losses.size() == 1);
        hold.onLost(loss -> {
            throw new IllegalStateException("a listener that fails disturbs nobody");
        });
        hold.onLost(losses::add);
        await().until(() -> losses.size() == 2);
    }

    @Test
    void aLossFoundOnlyAtTheReleaseIsStillTold() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        Breaking.shown(rival, "a", true);
        assertThatThrownBy(hold::close).as("this store answers at once").isInstanceOf(HoldLostException.class);
        await().until(() -> losses.size() == 1);
        Hold awaited =
                client.lock("a", HoldOptions.defaults().awaitRelease(true)).acquire();
        Breaking.shown(rival, "a", true);
        assertThatThrownBy(awaited::close).isInstanceOf(HoldLostException.class);
    }

    @Test
    void aReleaseThatFailedIsSentAgainUntilTheStoreAnswers() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        line.releases = UnreliableStore.Line.REQUEST_LOST;
        hold.close();
        time.advance(Duration.ofSeconds(1));
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        line.releases = UnreliableStore.Line.UP;
        time.advance(Duration.ofSeconds(1));
        assertThat(rival.lock("a").tryAcquire()).as("after an outage of 1 s").isPresent();
        int sent = line.releaseRequests.get();
        time.advance(Duration.ofMinutes(1));
        assertThat(line.releaseRequests).as("answered").hasValue(sent);
    }

    @Test
    void aReleaseIsNotSentAgainOnceItsLeaseHasEnded() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        line.releases = UnreliableStore.Line.REQUEST_LOST;
        hold.close();
        time.advance(Duration.ofSeconds(30));
        int sent = line.releaseRequests.get();
        assertThat(sent)
                .as("at once, after 0.25, 0.75, 1.75, 3.75, 7.75, 15.75 and 25.75 s")
                .isEqualTo(8);
        time.advance(Duration.ofMinutes(1));
        assertThat(line.releaseRequests).hasValue(sent);
    }

    @Test
    void aClientDoesNotFindItsOwnClosedHoldAfterAnOutage() throws InterruptedException {
        closeDuringAnOutage("a");
        closeDuringAnOutage("b");
        line.releases = UnreliableStore.Line.UP;
        assertThat(client.lock("a").tryAcquire()).isPresent();
        assertThat(client.lock("b").status().isHeld()).isFalse();
    }

    @Test
    void aTryThatMeetsAnOutageDoesNotPutOffTheNextRelease() throws InterruptedException {
        closeDuringAnOutage("a");
        int sent = line.releaseRequests.get();
        for (int i = 0; i < 100; i++) {
            assertThatThrownBy(() -> client.lock("a").tryAcquire())
                    .as("nobody else holds it")
                    .isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(line.releaseRequests).as("one with each try").hasValue(sent + 100);
        line.releases = UnreliableStore.Line.UP;
        time.advance(Duration.ofMillis(250));
        assertThat(rival.lock("a").tryAcquire()).isPresent();
        assertThat(line.releaseRequests).hasValue(sent + 101);
    }

    @Test
    void closingTheClientWaitsForAReleaseThatIsSentAgain() throws Exception {
        closeDuringAnOutage("a");
        CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close);
        await().untilAsserted(() ->
                assertThatThrownBy(() -> client.lock("a").status()).isInstanceOf(ClientClosedException.class));
        assertThat(closing).isNotDone();
        line.releases = UnreliableStore.Line.UP;
        time.advance(Duration.ofMillis(250));
        closing.get(10, TimeUnit.SECONDS);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void closingTheClientAfterALongOutageSendsTheReleaseAtOnce() throws Exception {
        closeDuringAnOutage("a");
        time.advance(Duration.ofSeconds(16)); // the next wait ends after 26 s
        line.releases = UnreliableStore.Line.UP;
        client.close();
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void closingTheClientDuringALongOutageSendsTheReleaseSoonAfterIt() throws Exception {
        closeDuringAnOutage("a");
        time.advance(Duration.ofSeconds(16));
        int sent = line.releaseRequests.get();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close);
        await().until(() -> line.releaseRequests.get() > sent);
        line.releases = UnreliableStore.Line.UP;
        await().until(() -> {
            time.advance(Duration.ofMillis(250));
            return closing.isDone();
        });
        assertThat(line.releaseRequests).as("sent by the close, and once more").hasValue(sent + 2);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
    }

    /** Nor is it told that others hold the lock: nobody does. */
    @Test
    void aClaimDoesNotRepeatASlowReleaseImmediately() throws Exception {
        Hold hold = client.lock("a").acquire();
        CompletableFuture<Void> silence = new CompletableFuture<>();
        line.holdReleaseReplies = silence;
        line.releases = UnreliableStore.Line.REQUEST_LOST;
        hold.close();
        silence.complete(null); // a first failure at once
        CompletableFuture<Void> longer = new CompletableFuture<>();
        line.holdReleaseReplies = longer;
        time.advance(Duration.ofMillis(250));
        time.advance(Duration.ofSeconds(3));
        longer.complete(null);
        line.holdReleaseReplies = null;
        int sent = line.releaseRequests.get();
        assertThatThrownBy(() -> client.lock("a").tryAcquire())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("has not confirmed yet that the last hold of 'a' by this client is released");
        assertThat(line.releaseRequests).as("within 3 s").hasValue(sent);
        time.advance(Duration.ofSeconds(3));
        assertThat(line.releaseRequests).as("after 3 s").hasValue(sent + 1);
        line.releases = UnreliableStore.Line.UP;
    }

    private void closeDuringAnOutage(String name) throws InterruptedException {
        Hold hold = client.lock(name).acquire();
        line.releases = UnreliableStore.Line.REQUEST_LOST;
        hold.close();
    }

    @Test
    void aClaimWhoseReplyWasLostLeavesNothing() {
        line.claims = UnreliableStore.Line.REPLY_LOST;
        assertThatThrownBy(() -> client.lock("a").acquire())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("'a'");
        assertThat(rival.lock("a").tryAcquire()).as("withdrawn at once").isPresent();
    }

    @Test
    void aClaimIsWithdrawnAgainUntilTheStoreAnswers() {
        line.claims = UnreliableStore.Line.REPLY_LOST;
        line.releases = UnreliableStore.Line.REQUEST_LOST;
        assertThatThrownBy(() -> client.lock("a").acquire()).isInstanceOf(StoreUnavailableException.class);
        time.advance(Duration.ofSeconds(1));
        assertThat(rival.lock("a").tryAcquire()).isEmpty();
        line.releases = UnreliableStore.Line.UP;
        time.advance(Duration.ofSeconds(1));
        assertThat(rival.lock("a").tryAcquire()).as("after an outage of 1 s").isPresent();
    }

    @Test
    void closingTheClientTellsOpenHoldsAndFreesThem() throws InterruptedException {
        Hold hold = client.lock("a").acquire();
        hold.onLost(losses::add);
        client.close();
        await().until(() -> losses.size() == 1);
        assertThat(losses.get(0).cause()).isEqualTo(Loss.Cause.CLIENT_CLOSED);
        assertThat(rival.lock("a").tryAcquire()).isPresent();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
    }
}
