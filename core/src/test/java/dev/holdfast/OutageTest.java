package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store that does not answer while callers wait is never mistaken for a lock that others hold. */
class OutageTest extends EngineCase {
    private final List<StoreEvent> heard = new CopyOnWriteArrayList<>();
    private final AwayStore away = new AwayStore(memory.open(time));
    private final RefusingTime refusing = new RefusingTime(time);
    private final LockClient patient = LockClient.builder(away)
            .time(refusing)
            .executor(Runnable::run)
            .listener(new LockListener() {
                @Override
                public void onStoreUnreachable(StoreEvent.Unreachable event) {
                    heard.add(event);
                }

                @Override
                public void onStoreReachable(StoreEvent.Reachable event) {
                    heard.add(event);
                }
            })
            .build();
    private final DistributedLock lock = patient.lock("a");
    private Hold theirs;

    @BeforeEach
    void anotherHolds() throws InterruptedException {
        theirs = rival.lock("a").acquire();
    }

    @AfterEach
    void closePatient() {
        away.isAway = false;
        time.advance(s(10)); // a release that met the outage is sent again
        patient.close();
    }

    @Test
    void aTimedWaitThatEndsInAnOutageSaysSo() throws Exception {
        Started<Optional<Hold>> waiter = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(3)));
        away.isAway = true;
        time.advance(s(3));
        assertThatThrownBy(waiter::result)
                .hasCauseInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("'a'");
        assertThat(theirs.isValid()).isTrue();
    }

    @Test
    void aTimedWaitThatEndsWhileTheStoreAnswersIsEmpty() throws Exception {
        Started<Optional<Hold>> waiter = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(3)));
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        time.advance(s(2));
        away.isAway = false;
        time.advance(s(1));
        assertThat(waiter.result()).isEmpty();
        await().until(() -> heard.size() == 2);
        assertThat(heard.get(0)).isInstanceOf(StoreEvent.Unreachable.class);
        assertThat(heard.get(1)).isEqualTo(new StoreEvent.Reachable(s(3), away.description()));
    }

    @Test
    void anUnsupportedDowngradeDoesNotEndAnOutage() throws Exception {
        DistributedReadWriteLock data = patient.readWriteLock("data");
        Hold writing = data.write().acquire();
        Started<Optional<Hold>> waiter = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(9)));
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        time.advance(s(1));
        data.downgrade(writing);
        time.advance(s(1));
        away.isAway = false;
        away.listener.reachable();
        await().until(() -> heard.size() == 2);
        assertThat(heard.get(1)).isEqualTo(new StoreEvent.Reachable(s(2), away.description()));
        theirs.close();
        assertThat(waiter.result()).hasValueSatisfying(Hold::close);
    }

    @Test
    void eachOfSeveralWaitersHearsOfIt() throws Exception {
        Started<Optional<Hold>> first = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(3)));
        Started<Optional<Hold>> second = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(30)));
        away.isAway = true;
        time.advance(s(3));
        assertThatThrownBy(first::result)
                .as("whose wait ends while another waits on")
                .hasCauseInstanceOf(StoreUnavailableException.class);
        time.advance(s(27));
        assertThatThrownBy(second::result).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void oneOfSeveralPermitsThatIsWaitedForSaysSoToo() throws Exception {
        Hold permit = rival.semaphore("s", 1).acquire();
        Started<Optional<Hold>> one =
                startAndWaitUntilItWaits(() -> patient.semaphore("s", 1).tryAcquire(s(3)));
        Started<Optional<Hold>> two =
                startAndWaitUntilItWaits(() -> patient.semaphore("s", 1).tryAcquire(s(4)));
        away.isAway = true;
        time.advance(s(4));
        assertThatThrownBy(one::result).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(two::result).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThat(permit.isValid()).isTrue();
    }

    @Test
    void theJavaViewAndSeveralNamesTogetherSayTheSame() throws Exception {
        Lock java = lock.asLock();
        Started<Boolean> javaWaiter = startAndWaitUntilItWaits(() -> java.tryLock(3, TimeUnit.SECONDS));
        Started<Optional<MultiHold>> both = startAndWaitUntilItWaits(
                () -> patient.multiLock(List.of("a", "b")).tryAcquire(s(3)));
        away.isAway = true;
        time.advance(s(3));
        assertThatThrownBy(javaWaiter::result).hasCauseInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(both::result).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void aWaiterBehindAHoldOfItsOwnClientNeedsNoStoreToKnowThatItIsHeld() throws Exception {
        theirs.close();
        Hold own = lock.acquire();
        Started<Optional<Hold>> waiter = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(3)));
        away.isAway = true;
        time.advance(s(3));
        assertThat(waiter.result()).isEmpty();
        assertThat(own.isValid()).isTrue();
    }

    @Test
    void aWaiterBehindAGrantThatIsToBeRenumberedForItHearsOfTheOutage() throws Exception {
        theirs.close();
        DistributedLock renumbered = patient.lock("a", HoldOptions.defaults().handOver(0, s(0)));
        Hold own = renumbered.acquire();
        Started<Optional<Hold>> waiter = startAndWaitUntilItWaits(() -> renumbered.tryAcquire(s(3)));
        away.silence = new CompletableFuture<>();
        away.isAway = true;
        own.close();
        time.advance(s(3));
        away.silence.complete(null);
        assertThatThrownBy(waiter::result).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void aTryBehindAGrantThatNobodyWantsAnyMoreAsksTheStore() throws Exception {
        theirs.close();
        DistributedLock renumbered = patient.lock("a", HoldOptions.defaults().handOver(0, s(0)));
        Hold own = renumbered.acquire();
        CompletableFuture<Hold> waiting = renumbered.acquireAsync();
        away.silence = new CompletableFuture<>();
        away.isAway = true;
        own.close();
        waiting.cancel(false);
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(renumbered::tryAcquire);
        away.isAway = false;
        away.silence.complete(null);
        assertThat(trying.result()).hasValueSatisfying(Hold::close);
    }

    @Test
    void aTryUnderWayWhenItsClientClosesHearsThat() throws Exception {
        LockClient closing = clientOn(
                new ForwardedStore(memory.open(time)) {
                    @Override
                    public Pending claim(Claim claim, Answer answer) {
                        return answer::refused;
                    }
                },
                time);
        Started<Optional<Hold>> trying = startAndWaitUntilItWaits(closing.lock("b")::tryAcquire);
        closing.close();
        assertThatThrownBy(trying::result).hasCauseInstanceOf(ClientClosedException.class);
    }

    @Test
    void aRenewalOfUnknownOutcomeEndsNoOutage() throws Exception {
        Hold renewed = patient.lock("b").acquire();
        away.knowsNothing = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        time.advance(s(11));
        away.knowsNothing = false;
        time.advance(s(11));
        await().until(() -> heard.size() == 2); // listeners are told by a thread of their own
        assertThat(heard.get(1))
                .isInstanceOfSatisfying(
                        StoreEvent.Reachable.class,
                        back -> assertThat(back.after()).isGreaterThan(s(11)));
        renewed.close();
    }

    @Test
    void acquireRidesOutAnOutageForAMinuteAndThenSaysSo() throws Exception {
        Started<Hold> waiter = startAndWaitUntilItWaits(lock::acquire);
        CompletableFuture<Hold> future = lock.acquireAsync();
        time.advance(s(600));
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        advance(59, s(1));
        assertThat(waiter.isOver()).isFalse();
        advance(5, s(1));
        assertThatThrownBy(waiter::result)
                .hasCauseInstanceOf(StoreUnavailableException.class)
                .hasMessageContainingAll("'a'", "1m", "outageLimit", "see that it is up");
        assertThat(future).isCompletedExceptionally();
        assertThat(patient.statistics().waitingNow()).isZero();
    }

    @Test
    void aReaderComesInThoughTheWaitOfTheWriterBeforeItEnded() {
        DistributedReadWriteLock data = patient.readWriteLock("data", lease(600));
        Hold writing = data.write().acquireAsync().join();
        CompletableFuture<Hold> writer = data.write().acquireAsync();
        time.advance(s(0.01));
        CompletableFuture<Optional<Hold>> reader = data.read().tryAcquireAsync(s(300));
        away.isAway = true;
        away.listener.unreachable("data", new StoreUnavailableException("away"));
        advance(64, s(1));
        assertThat(writer).isCompletedExceptionally();
        assertThat(reader).isNotDone();
        away.isAway = false;
        away.listener.reachable();
        writing.close();
        assertThat(reader.join()).hasValueSatisfying(Hold::close);
    }

    @Test
    void theLimitCountsThoughTheCheckOfAnOutageGotNoThreadOnce() throws Exception {
        Started<Hold> waiter = startAndWaitUntilItWaits(lock::acquire);
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        advance(30, s(1));
        away.isAway = false;
        away.listener.reachable();
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away again"));
        refusing.refuse(1); // of the check, which finds the outage too young
        advance(180, s(1));
        assertThat(refusing.hasRefused()).isTrue();
        soon(waiter::isOver);
        assertThatThrownBy(waiter::result).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void anOutageThatEndsInTimeEndsNoWait() throws Exception {
        Started<Hold> waiter = startAndWaitUntilItWaits(lock::acquire);
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        advance(59, s(1));
        away.isAway = false;
        away.listener.reachable();
        advance(120, s(1));
        assertThat(waiter.isOver()).isFalse();
        theirs.close();
        waiter.result().close();
    }

    @Test
    void anOutageThatNoStoreReportedEndsNoWaitBeforeTheStoreWasAskedOnceMore() throws Exception {
        Started<Hold> waiter = startAndWaitUntilItWaits(lock::acquire);
        time.advance(s(1));
        away.isAway = true;
        assertThatThrownBy(lock::status).isInstanceOf(StoreUnavailableException.class);
        away.isAway = false;
        advance(120, s(1));
        assertThat(waiter.isOver()).isFalse();
        theirs.close();
        waiter.result().close();
    }

    @Test
    void aStoreThatAnswersQuestionsAndServesNoClaimsIsAway() throws Exception {
        Started<Optional<Hold>> first = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(3)));
        Started<Hold> second = startAndWaitUntilItWaits(lock::acquire);
        away.listener.unreachable("a", new IOException("somebody else writes")); // whatever the store makes of it
        lock.status();
        time.advance(s(3));
        assertThatThrownBy(first::result).hasCauseInstanceOf(StoreUnavailableException.class);
        advance(65, s(1));
        assertThatThrownBy(second::result).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void theLimitCountsFromTheCallWhereThatCameLater() throws Exception {
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        advance(600, s(1));
        Started<Hold> waiter = startAndWaitUntilItWaits(lock::acquire);
        advance(58, s(1));
        assertThat(waiter.isOver()).isFalse();
        advance(8, s(1));
        assertThatThrownBy(waiter::result).hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void aWaitWithATimeOfItsOwnRidesOutALongerOutage() throws Exception {
        Started<Optional<Hold>> waiter = startAndWaitUntilItWaits(() -> lock.tryAcquire(s(300)));
        away.isAway = true;
        away.listener.unreachable("a", new StoreUnavailableException("away"));
        advance(200, s(1));
        assertThat(waiter.isOver()).isFalse();
        away.isAway = false;
        theirs.close();
        assertThat(waiter.result()).hasValueSatisfying(Hold::close);
    }

    @Test
    void anyRequestThatFailsIsAnOutageAndAnyAnswerItsEnd() throws Exception {
        time.advance(s(1));
        away.isAway = true;
        assertThatThrownBy(lock::status).isInstanceOf(StoreUnavailableException.class);
        assertThatThrownBy(lock::status).isInstanceOf(StoreUnavailableException.class);
        time.advance(s(4));
        away.isAway = false;
        lock.status();
        lock.status();
        await().until(() -> heard.size() >= 2);
        assertThat(heard)
                .containsExactly(
                        new StoreEvent.Unreachable("away", away.description()),
                        new StoreEvent.Reachable(s(4), away.description()));
    }

    @Test
    void theFiguresSayWhetherTheStoreAnswersWhereNobodyListens() {
        AwayStore store = new AwayStore(memory.open(time));
        LockClient unheard = clientOn(store, time);
        DistributedLock asked = unheard.lock("b");
        assertThat(unheard.statistics().storeReachable())
                .as("before the first request")
                .isTrue();
        store.isAway = true;
        assertThatThrownBy(asked::status).isInstanceOf(StoreUnavailableException.class);
        assertThat(unheard.statistics().storeReachable()).isFalse();
        store.isAway = false;
        asked.status();
        assertThat(unheard.statistics().storeReachable()).isTrue();

        store.isAway = true;
        time.advance(s(1));
        assertThatThrownBy(asked::status).isInstanceOf(StoreUnavailableException.class);
        assertThat(unheard.statistics().storeReachable()).isFalse();
        unheard.close();
        assertThat(unheard.statistics().storeReachable())
                .as("of a client that needs no store any more")
                .isTrue();
    }

    /** ZooKeeper answers so for a claim that was never sent, a broken session for its grants. */
    @Test
    void anAnswerWithoutARequestEndsNoOutage() throws Exception {
        theirs.close();
        Hold own = lock.acquire();
        away.isAway = true;
        assertThatThrownBy(lock::status).isInstanceOf(StoreUnavailableException.class);
        away.endsWithoutAsking = true;
        assertThatThrownBy(own::close).isInstanceOf(HoldLostException.class);
        assertThatThrownBy(() -> patient.lock("b").tryAcquire()).isInstanceOf(StoreUnavailableException.class);
        time.advance(s(11));
        away.isAway = false;
        lock.status();
        await().until(() -> heard.size() >= 2);
        assertThat(heard)
                .containsExactly(
                        new StoreEvent.Unreachable("away", away.description()),
                        new StoreEvent.Reachable(s(11), away.description()));
    }

    @Test
    void aClientThatOnlyTriedHearsOfTheEndToo() throws Exception {
        away.isAway = true;
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(StoreUnavailableException.class);
        away.isAway = false;
        time.advance(s(1)); // the try is withdrawn
        await().until(() -> heard.size() >= 2);
        assertThat(heard.get(1)).isInstanceOf(StoreEvent.Reachable.class);
    }

    @Test
    void aWaiterThatCameWhileTheWaitOfAnotherWasCalledOffRidesTheOutageOut() throws Exception {
        ridesOutWhatEndedTheWaitOfAnother(() -> lock.tryAcquire(s(3)), lock::acquireAsync, theirs);
    }

    @Test
    void andSoDoesOneWhoWantsAPermit() throws Exception {
        DistributedSemaphore semaphore = patient.semaphore("s", 1);
        ridesOutWhatEndedTheWaitOfAnother(
                () -> semaphore.tryAcquire(s(3)),
                () -> semaphore.acquireAsync(1),
                rival.semaphore("s", 1).acquire());
    }

    private void ridesOutWhatEndedTheWaitOfAnother(
            Callable<Optional<Hold>> timed, Supplier<CompletableFuture<Hold>> untimed, Hold inTheWay) throws Exception {
        Started<Optional<Hold>> brief = startAndWaitUntilItWaits(timed);
        away.isAway = true;
        away.silence = new CompletableFuture<>();
        time.advance(s(3)); // the claim is called off, and that gets no answer yet
        CompletableFuture<Hold> late = untimed.get();
        away.silence.complete(null);
        assertThatThrownBy(brief::result).hasCauseInstanceOf(StoreUnavailableException.class);
        advance(5, s(1));
        assertThat(late).as("after 5 s of outage").isNotDone();

        away.isAway = false;
        away.listener.reachable();
        advance(11, s(1)); // what the first claim left is withdrawn a third of a lease later
        inTheWay.close();
        soon(late::isDone);
        late.join().close();
    }

    @Test
    void severalNamesTogetherRideOutAnOutageThatThereIsWhenTheyAreAskedFor() throws Exception {
        DistributedMultiLock both = patient.multiLock(List.of("a", "b"));
        away.isAway = true;
        assertThatThrownBy(both::tryAcquire).isInstanceOf(StoreUnavailableException.class);
        Started<Optional<MultiHold>> timed = startAndWaitUntilItWaits(() -> both.tryAcquire(s(3)));
        time.advance(s(3));
        assertThatThrownBy(timed::result).hasCauseInstanceOf(StoreUnavailableException.class);
        Started<MultiHold> waiter = startAndWaitUntilItWaits(both::acquire);
        advance(5, s(1));
        assertThat(waiter.isOver()).isFalse();
        away.isAway = false;
        away.listener.reachable();
        advance(11, s(1)); // what the claim of the wait that ended left is withdrawn a third of a lease later
        theirs.close();
        waiter.result().close();
    }

    @Test
    void aLimitIsNotNegative() {
        assertThatThrownBy(() -> LockClient.builder("mem:").outageLimit(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1ms");
    }

    /** A store whose claims wait on while it is away, and whose other requests fail, as do tries and claims called off. */
    private static final class AwayStore extends ForwardedStore {
        volatile boolean isAway;
        volatile boolean knowsNothing;
        /** Whether releases and withdrawals are answered although the server is away. */
        volatile boolean endsWithoutAsking;

        volatile CompletableFuture<Void> silence = CompletableFuture.completedFuture(null);
        volatile StoreListener listener;

        AwayStore(Store store) {
            super(store);
        }

        @Override
        public void listen(StoreListener told) {
            listener = told;
            super.listen(told);
        }

        @Override
        public Pending claim(Claim claim, Answer answer) {
            if (!isAway || claim.waits()) {
                return super.claim(claim, answer);
            }
            answer.follow(ask(CompletableFuture::new));
            return Pending.BRIEFLY;
        }

        @Override
        public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
            return knowsNothing
                    ? CompletableFuture.completedFuture(
                            grants.stream().collect(Collectors.toMap(Grant::id, grant -> Renewal.unknown(0))))
                    : super.renew(grants);
        }

        @Override
        public CompletionStage<Boolean> release(Grant grant) {
            return endsWithoutAsking ? CompletableFuture.completedFuture(false) : super.release(grant);
        }

        @Override
        public CompletionStage<Void> withdraw(Claim claim) {
            return endsWithoutAsking ? CompletableFuture.completedFuture(null) : super.withdraw(claim);
        }

        /** As the default of every store. */
        @Override
        public CompletionStage<Boolean> downgrade(Grant grant) {
            return CompletableFuture.completedFuture(false);
        }

        @Override
        <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
            return isAway
                    ? silence.thenCompose(
                            noAnswer -> CompletableFuture.failedFuture(new StoreUnavailableException("away")))
                    : request.get();
        }
    }
}
