package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import org.junit.jupiter.api.Test;

/** Breaking a lock. */
abstract class BreakCases extends Cases {
    BreakCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aBrokenGrantIsNotRenewed() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());

        assertThat(two.breakGrant(grant, false)).isTrue();

        assertThat(one.renew(grant).verdict()).isEqualTo(Verdict.LOST);
        assertThat(one.extend(grant)).isEmpty();
    }

    @Test
    void theNextGrantComesWhenTheLeaseOfTheBrokenOneHasRunOut() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());

        two.breakGrant(grant, false);

        Grant next = two.holdWhenFree(grant.name());
        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(grant.lease()));
        assertThat(next.number()).isGreaterThan(grant.number());
    }

    /** Its work may go on for as long as it was told that it had. */
    @Test
    void aHolderThatFindsItsGrantBrokenDoesNotFreeTheLockBeforeItsLeaseHasRunOut() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());
        two.breakGrant(grant, false);

        assertThat(one.renew(grant).verdict()).isEqualTo(Verdict.LOST);

        Grant next = two.holdWhenFree(grant.name());
        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(grant.lease()));
        assertThat(next.number()).isGreaterThan(grant.number());
    }

    @Test
    void aWaiterGetsInWhenTheLeaseOfTheBrokenGrantHasRunOut() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());
        two.breakGrant(grant, false);

        Grant next = two.hold(Claims.waiting(Claims.of(grant.name())));

        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(grant.lease()));
        assertThat(two.isHeldBy(next)).isTrue();
    }

    @Test
    void nowTheNextGrantComesAtOnce() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());

        assertThat(two.breakGrant(grant, true)).isTrue();

        Grant next = two.hold(grant.name());
        assertThat(next.number()).isGreaterThan(grant.number());
        assertThat(one.renew(grant).verdict()).isEqualTo(Verdict.LOST);
        assertThat(one.release(grant)).isFalse();
        assertThat(two.isHeldBy(next)).isTrue();
    }

    @Test
    void nowAWaiterGetsInAtOnce() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());
        RawClient.Queued waiting = two.queue(grant.name());

        assertThat(rig.raw().breakGrant(grant, true)).isTrue();

        assertThat(two.isHeldBy(waiting.granted())).isTrue();
    }

    @Test
    void aLockBrokenWithPatienceCanStillBeBrokenNow() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());
        two.breakGrant(grant, false);

        two.breakGrant(grant, true);

        assertThat(two.isHeldBy(two.hold(grant.name()))).isTrue();
    }

    @Test
    void breakingAGrantThatHasEndedChangesNothing() {
        RawClient one = rig.raw();
        Grant ended = one.hold(rig.name());
        one.release(ended);

        assertThat(one.breakGrant(ended, false)).isFalse();
        assertThat(one.breakGrant(ended, true)).isFalse();

        assertThat(one.isHeldBy(one.hold(ended.name()))).isTrue();
    }

    @Test
    void breakingAGrantThatWasFollowedByAnotherChangesNothing() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant shown = one.hold(rig.name());
        RawClient.Queued waiting = two.queue(shown.name());
        one.release(shown);
        Grant next = waiting.granted();

        assertThat(rig.raw().breakGrant(shown, false)).isFalse();
        assertThat(rig.raw().breakGrant(shown, true)).isFalse();

        assertThat(two.isHeldBy(next)).isTrue();
        assertThat(one.attempt(shown.name())).isEmpty();
    }

    @Test
    void breakingOneLockLeavesTheOthers() {
        RawClient one = rig.raw();
        Grant broken = one.hold(rig.name());
        Grant other = one.hold(rig.name());

        one.breakGrant(broken, true);

        assertThat(one.isHeldBy(other)).isTrue();
    }
}
