package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.support.Asked;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A store that does not answer for a while: requests fail in time, waits live on, and nothing is held twice. */
abstract class OutageCases extends OutageSupport {
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
            var claimed = Asked.of(one.store, claim).answer();
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
        two.store.listen(new IgnoringListener() {
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
        LockClient rival = rig.client();
        RawClient raw = rig.raw();
        HoldOptions options = HoldOptions.defaults().lease(rig.renewed());
        Hold hold = client.lock(rig.name(), options).acquire();
        CompletableFuture<Hold> next = rival.lock(hold.name()).acquireAsync();
        raw.awaitWaiting(hold.name(), 1);
        CompletableFuture<Loss> lost = new CompletableFuture<>();
        hold.onLost(lost::complete);
        during(() -> {
            rig.patience.times(2).until("the hold to be invalid", () -> !hold.isValid());
            rig.patience.times(2).answer(lost, "the loss"); // until then, it may only be in doubt
        });
        boolean valid = rig.patience.times(3).result(next.thenApply(granted -> hold.isValid()), "the rival");

        assertThat(valid).isFalse();
        assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        assertThat(next.join().token()).isGreaterThan(hold.token());
        next.join().close();
    }
}
