package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who gets a name, and what a claim leaves behind. */
abstract class GrantCases extends Cases {
    GrantCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aFreeNameIsGrantedAndAHeldOneIsNot() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();

        Grant grant = one.hold(name);

        assertThat(two.attempt(name)).isEmpty();
        assertThat(one.attempt(name)).as("another claim of the same client").isEmpty();
        assertThat(two.attempt(rig.name())).as("another name").isPresent();
        assertThat(one.isHeldBy(grant)).isTrue();
    }

    @Test
    void aGrantAnswersItsClaim() {
        RawClient one = rig.raw();
        Claim claim = Claims.of(rig.name());

        Grant grant = one.hold(claim);

        assertThat(grant.id()).isEqualTo(claim.id());
        assertThat(grant.name()).isEqualTo(claim.name());
        assertThat(grant.mode()).isEqualTo(claim.mode());
        assertThat(grant.number()).isPositive();
        if (rig.capabilities().sessionBound()) {
            assertThat(grant.lease()).isPositive();
        } else {
            assertThat(grant.lease()).isEqualTo(claim.lease());
        }
    }

    @Test
    void aReleasedNameIsFree() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);

        assertThat(one.release(grant)).isTrue();

        assertThat(one.isHeld(name)).isFalse();
        assertThat(two.attempt(name)).isPresent();
    }

    /** A release and the claim behind it, asked for together, may leave as one; they happen in their order. */
    @Test
    void whatIsAskedForBeforeSendingIsDoneOnceAndInItsOrder() {
        RawClient one = rig.raw();
        Grant grant = one.hold(rig.name());
        Claim next = Claims.of(grant.name());
        AtomicInteger times = new AtomicInteger();
        CompletableFuture<Boolean> released = new CompletableFuture<>();
        CompletableFuture<Optional<Grant>> claimed = new CompletableFuture<>();

        one.store.beforeSending(grant.name(), () -> {
            times.incrementAndGet();
            forward(one.store.release(grant), released);
            forward(Asked.of(one.store, next).answer(), claimed);
        });

        assertThat(rig.patience.answer(released, "release")).isTrue();
        if (rig.capabilities().ordered()) {
            assertThat(rig.patience.answer(claimed, "claim").orElseThrow().number())
                    .isGreaterThan(grant.number());
        }
        assertThat(times).hasValue(1);
    }

    @Test
    void aClaimOfAnotherThreadDoesNotOvertakeAReleaseThatIsAboutToBeSent() {
        RawClient one = rig.raw();
        assumeTrue(rig.capabilities().ordered(), "a claim awaits the answer of the release before it");
        Grant grant = one.hold(rig.name());
        CompletableFuture<Optional<Grant>> claimed = new CompletableFuture<>();

        one.store.beforeSending(grant.name(), () -> {
            one.store.release(grant);
            rig.patience.result(
                    rig.fork(() -> {
                        forward(Asked.of(one.store, Claims.of(grant.name())).answer(), claimed);
                        return true;
                    }),
                    "the claim to be made");
        });

        assertThat(rig.patience.answer(claimed, "claim")).isPresent();
    }

    private static <T> void forward(CompletionStage<T> from, CompletableFuture<T> to) {
        from.whenComplete((answer, failure) -> {
            if (failure == null) {
                to.complete(answer);
            } else {
                to.completeExceptionally(failure);
            }
        });
    }

    @Test
    void aFailedTryLeavesNothing() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);

        assertThat(two.attempt(name)).isEmpty();

        assertThat(one.waiting(name)).isZero();
        assertThat(one.renew(grant).contended()).isFalse();
        one.release(grant);
        assertThat(one.isHeld(name)).isFalse();
        assertThat(rig.raw().attempt(name)).isPresent();
    }

    @Test
    void theSameClaimAskedAgainSucceedsAgain() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Claim claim = Claims.of(rig.name());
        Grant first = one.hold(claim);

        Grant second = one.hold(claim);

        assertThat(second.id()).isEqualTo(first.id());
        assertThat(second.number()).isGreaterThanOrEqualTo(first.number());
        assertThat(two.attempt(claim.name())).isEmpty();
        assertThat(one.isHeldBy(second)).isTrue();
        assertThat(one.release(second)).isTrue();
        assertThat(one.isHeld(claim.name()))
                .as("held once, and so released once")
                .isFalse();
    }

    @Test
    void theSameClaimAskedAgainSucceedsWhileOthersWait() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Claim claim = Claims.of(rig.name());
        one.hold(claim);
        RawClient.Queued waiting = two.queue(claim.name());

        Grant again = one.hold(Claims.waiting(claim));

        assertThat(waiting.isAnswered()).isFalse();
        assertThat(one.release(again)).isTrue();
        assertThat(two.isHeldBy(waiting.granted())).isTrue();
    }

    @Test
    void withdrawingAGrantFreesItsName() {
        RawClient one = rig.raw();
        Claim claim = Claims.of(rig.name());
        Grant unknown = one.hold(claim);

        one.withdraw(claim);

        assertThat(one.isHeld(claim.name())).isFalse();
        assertThat(one.isHeldBy(unknown)).isFalse();
        RawClient other = rig.raw();
        Grant next = other.hold(claim.name());
        one.withdraw(claim);
        assertThat(other.isHeldBy(next)).as("after the second withdrawal").isTrue();
    }

    @Test
    void withdrawingTakesAClaimOutOfTheQueue() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        RawClient.Queued waiting = two.queue(name);
        waiting.pending().cancel();

        two.withdraw(waiting.claim());
        two.withdraw(waiting.claim());

        assertThat(one.waiting(name)).isZero();
        one.release(grant);
        assertThat(one.isHeld(name)).isFalse();
    }

    @Test
    void withdrawingWhatADeadClientLeftInTheQueueRemovesIt() {
        RawClient one = rig.raw();
        RawClient dead = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        RawClient.Queued waiting = dead.queue(name);
        dead.store.close();

        one.withdraw(waiting.claim());

        assertThat(one.waiting(name)).isZero();
        one.release(grant);
        assertThat(one.isHeld(name)).isFalse();
    }

    @Test
    void withdrawingAClaimThatNeverCameIsHarmless() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        one.withdraw(Claims.of(name));
        assertThat(one.isHeld(name)).isFalse();

        Grant grant = one.hold(name);
        RawClient.Queued waiting = two.queue(name);
        two.withdraw(Claims.of(name));

        assertThat(one.waiting(name)).isEqualTo(rig.counted(1));
        assertThat(one.isHeldBy(grant)).isTrue();
        one.release(grant);
        assertThat(waiting.answer()).isPresent();
    }

    @Test
    void withdrawingTheHoldersClaimLetsTheNextIn() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Claim claim = Claims.of(rig.name());
        one.hold(claim);
        RawClient.Queued waiting = two.queue(claim.name());

        one.withdraw(claim);

        assertThat(two.isHeldBy(waiting.granted())).isTrue();
    }

    @Test
    void ofClaimsThatRaceForAFreeNameOneWins() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        RawClient three = rig.raw();
        for (int round = 0; round < rig.contract.rounds(); round++) {
            String name = rig.name();
            Queue<Boolean> winners = new ConcurrentLinkedQueue<>();

            rig.race(
                    () -> one.attempt(name).map(one::isHeldBy).ifPresent(winners::add),
                    () -> two.attempt(name).map(two::isHeldBy).ifPresent(winners::add),
                    () -> three.attempt(name).map(three::isHeldBy).ifPresent(winners::add));

            assertThat(winners).as("held by whom it was granted to").containsExactly(true);
        }
    }
}
