package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.Loss;
import dev.holdfast.StoreEvent;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A store that does not answer for a while: requests fail in time, waits live on, and nothing is held twice. */
abstract class OutageCases extends Cases {
    OutageCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void requestsFailInTimeAndSucceedAfterwardsAndNothingOfThemStays() throws Exception {
        RawClient one = rig.raw();
        LockClient client = rig.client();
        Grant grant = one.hold(rig.name());
        Claim claim = Claims.of(rig.name());
        String name = rig.name();
        during(() -> {
            var claimed = one.store.claim(claim).answer();
            var renewed = one.store.renew(List.of(grant));
            var acquired = rig.fork(() -> client.lock(name).tryAcquire());

            Patience patience = rig.patience.times(2);
            assertThat(patience.failure(() -> claimed, "claim")).isInstanceOf(StoreUnavailableException.class);
            assertUnknown(renewed, grant);
            assertThatThrownBy(() -> patience.result(acquired, "acquire"))
                    .isInstanceOf(StoreUnavailableException.class);
        });
        rig.patience.until("the store to answer again", () -> answers(one));
        one.awaitFree(name);
        assertThat(one.waiting(name)).isZero();
        assertThat(one.isHeldBy(grant)).isTrue();
        one.withdraw(claim);
        assertThat(one.release(one.hold(claim.name()))).isTrue();
    }

    /** No answer at all, or none for this grant. */
    private void assertUnknown(CompletionStage<Map<ClaimId, Renewal>> renewed, Grant grant) {
        CompletionStage<Verdict> verdict = renewed.handle((answer, failure) -> answer == null
                ? Verdict.UNKNOWN
                : RawClient.answerFor(grant, answer).verdict());
        assertThat(rig.patience.times(2).answer(verdict, "renewal")).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void aWaitLivesThroughIt() throws Exception {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        CompletableFuture<String> noticed = new CompletableFuture<>();
        two.store.listen(new StoreListener() {
            @Override
            public void lost(Grant lost) {}

            @Override
            public void suspect(Grant suspected) {}

            @Override
            public void unreachable(String name, Throwable why) {
                noticed.complete(name);
            }
        });
        Grant grant = one.hold(rig.name());
        RawClient.Queued waiting = two.queue(grant.name());
        assertThat(noticed).isNotDone();
        during(() -> assertThat(rig.patience.times(2).answer(noticed, "the wait to be hit"))
                .isEqualTo(grant.name()));
        rig.patience.until("the store to answer again", () -> answers(one));
        assertThat(waiting.isAnswered()).isFalse();

        one.release(grant);

        assertThat(rig.patience.times(3).answer(waiting.pending().answer(), "the wait"))
                .isPresent();
    }

    @Test
    void aHoldThatCannotBeRenewedIsInvalidBeforeItsLeaseEndsAndIsLost() throws Exception {
        LockClient client = rig.client();
        HoldOptions options = HoldOptions.defaults().lease(rig.brief().multipliedBy(2));
        Hold hold = client.lock(rig.name(), options).acquire();
        RawClient raw = rig.raw();
        CompletableFuture<Hold> next = rig.client().lock(hold.name()).acquireAsync();
        raw.awaitWaiting(hold.name(), 1);
        CompletableFuture<Loss> lost = new CompletableFuture<>();
        hold.onLost(lost::complete);
        during(() -> {
            rig.patience.times(2).until("the hold to be invalid", () -> !hold.isValid());
            rig.patience.times(2).answer(lost, "the loss"); // until then, it may only be in doubt
        });
        boolean valid = rig.patience.times(3).result(next.thenApply(rival -> hold.isValid()), "the rival");

        assertThat(valid).isFalse();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        assertThat(next.join().token()).isGreaterThan(hold.token());
        next.join().close();
    }

    @Test
    void aTimedWaitThatEndsInAnOutageSaysSoAndNotThatOthersHold() throws Exception {
        RawClient raw = rig.raw();
        LockClient holder = rig.client();
        LockClient client = rig.client();
        String name = rig.name();
        HoldOptions options = HoldOptions.defaults().lease(Claims.LONG);
        Hold hold = holder.lock(name, options).acquire();
        DistributedLock lock = client.lock(name, options);
        Duration wait = rig.brief().multipliedBy(3);
        assertThat(lock.tryAcquire(wait)).as("while the store answers").isEmpty();
        raw.awaitWaiting(name, 0);
        during(() -> {
            var last = rig.fork(() -> lock.tryAcquire(wait));
            var withOthers = rig.fork(() -> lock.tryAcquire(wait));
            Patience patience = rig.patience.times(3);
            assertThatThrownBy(() -> patience.result(last, "a wait in an outage"))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> patience.result(withOthers, "another"))
                    .isInstanceOf(StoreUnavailableException.class);
        });
        rig.patience.until("the store to answer again", () -> answers(raw));
        rig.patience.times(3).until("nobody to wait any more", () -> raw.waiting(name) == 0);
        assertThat(hold.name()).isEqualTo(name);
    }

    @Test
    void aWaitThatBeganBeforeTheOutageSaysSoToo() throws Exception {
        RawClient raw = rig.raw();
        RawClient holder = rig.raw();
        Grant grant = holder.hold(rig.name());
        LockClient client = rig.client();
        var waiting =
                rig.fork(() -> client.lock(grant.name()).tryAcquire(rig.brief().multipliedBy(10)));
        raw.awaitWaiting(grant.name(), 1);
        during(() -> assertThatThrownBy(() -> rig.patience.times(3).result(waiting, "the wait"))
                .isInstanceOf(StoreUnavailableException.class));
        rig.patience.until("the store to answer again", () -> answers(raw));
        holder.release(grant);
        assertThat(rig.patience.times(3).result(client.lock(grant.name()).acquireAsync(), "a later wait"))
                .satisfies(Hold::close);
    }

    @Test
    void listenersHearOfItOnceAndOfItsEnd() throws Exception {
        List<StoreEvent> heard = new CopyOnWriteArrayList<>();
        RawClient raw = rig.raw();
        Grant grant = raw.hold(rig.name());
        LockClient client = rig.client(settings -> settings.listener(new LockListener() {
            @Override
            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                heard.add(event);
            }

            @Override
            public void onStoreReachable(StoreEvent.Reachable event) {
                heard.add(event);
            }
        }));
        CompletableFuture<Hold> waiting = client.lock(grant.name()).acquireAsync();
        raw.awaitWaiting(grant.name(), 1);
        assertThat(heard).isEmpty();
        Patience patience = rig.patience.times(2);
        during(() -> patience.until("listeners to hear that the store is away", () -> heard.size() == 1));
        patience.until("listeners to hear that it is back", () -> heard.size() >= 2);
        assertThat(heard.get(0)).isInstanceOf(StoreEvent.Unreachable.class);
        assertThat(heard.get(1)).isInstanceOf(StoreEvent.Reachable.class);
        raw.release(grant);
        patience.result(waiting, "the wait").close();
    }

    @Test
    void acquireRidesItOutForItsLimitAndThenSaysSo() throws Exception {
        RawClient raw = rig.raw();
        Grant grant = raw.hold(rig.name());
        LockClient client = rig.client(settings -> settings.outageLimit(rig.brief()));
        CompletableFuture<Hold> waiting = client.lock(grant.name()).acquireAsync();
        raw.awaitWaiting(grant.name(), 1);
        during(() -> assertThatThrownBy(() -> rig.patience.times(3).result(waiting, "the wait"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("outageLimit"));
        rig.patience.until("the store to answer again", () -> answers(raw));
        raw.release(grant);
    }

    private void during(Rig.Body body) throws Exception {
        Store witness = rig.store();
        Optional<AutoCloseable> outage = rig.contract.breakStore();
        assumeTrue(outage.isPresent(), "this store cannot be broken");
        var asked = witness.claim(Claims.of(rig.name())).answer().toCompletableFuture();
        try {
            body.run();
            assertThat(asked.isDone() && !asked.isCompletedExceptionally())
                    .as("granted while the store was broken: the outage did not bite")
                    .isFalse();
        } finally {
            outage.get().close();
        }
    }

    private boolean answers(RawClient client) {
        try {
            return client.release(client.hold(rig.name()));
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }
}
