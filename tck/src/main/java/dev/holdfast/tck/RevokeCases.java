package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import org.junit.jupiter.api.Test;

/** Breaking a lock. */
abstract class RevokeCases extends Cases {
    RevokeCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aBrokenGrantIsNotRenewed() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());

        assertThat(two.revoke(grant.name(), false)).isTrue();

        assertThat(one.renew(grant).verdict()).isEqualTo(Verdict.LOST);
        assertThat(one.extend(grant)).isEmpty();
    }

    @Test
    void theNextGrantComesWhenTheLeaseOfTheBrokenOneHasRunOut() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());

        two.revoke(grant.name(), false);

        Grant next = two.holdWhenFree(grant.name());
        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(grant.lease()));
        assertThat(next.number()).isGreaterThan(grant.number());
    }

    @Test
    void aWaiterGetsInWhenTheLeaseOfTheBrokenGrantHasRunOut() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());
        two.revoke(grant.name(), false);

        Grant next = two.hold(Claims.waiting(Claims.of(grant.name())));

        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(grant.lease()));
        assertThat(two.isHeldBy(next)).isTrue();
    }

    @Test
    void nowTheNextGrantComesAtOnce() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());

        assertThat(two.revoke(grant.name(), true)).isTrue();

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

        assertThat(rig.raw().revoke(grant.name(), true)).isTrue();

        assertThat(two.isHeldBy(waiting.granted())).isTrue();
    }

    @Test
    void aLockBrokenWithPatienceCanStillBeBrokenNow() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());
        two.revoke(grant.name(), false);

        two.revoke(grant.name(), true);

        assertThat(two.isHeldBy(two.hold(grant.name()))).isTrue();
    }

    @Test
    void breakingWhatNobodyHoldsChangesNothing() {
        RawClient one = rig.raw();
        String name = rig.name();

        assertThat(one.revoke(name, false)).isFalse();
        assertThat(one.revoke(name, true)).isFalse();

        assertThat(one.isHeldBy(one.hold(name))).isTrue();
    }

    @Test
    void breakingOneLockLeavesTheOthers() {
        RawClient one = rig.raw();
        Grant broken = one.hold(rig.name());
        Grant other = one.hold(rig.name());

        one.revoke(broken.name(), true);

        assertThat(one.isHeldBy(other)).isTrue();
    }
}
