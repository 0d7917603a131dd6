package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import org.junit.jupiter.api.Test;

/** What a client can do with a grant that is no longer its own: nothing. */
abstract class StaleHolderCases extends Cases {
    StaleHolderCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aStaleHoldersReleaseChangesNothing() {
        RawClient stale = rig.raw();
        RawClient next = rig.raw();
        String name = rig.name();
        Grant old = stale.hold(name, rig.brief());
        rig.makeStale(stale, old);
        Grant present = next.hold(name);

        assertThat(stale.release(old)).isFalse();

        assertThat(next.isHeldBy(present)).isTrue();
        assertThat(rig.raw().attempt(name)).isEmpty();
        assertThat(next.release(present)).isTrue();
    }

    @Test
    void aStaleHoldersRenewalRevivesNothing() {
        RawClient stale = rig.raw();
        RawClient next = rig.raw();
        String name = rig.name();
        Grant old = stale.hold(name, rig.brief());
        rig.makeStale(stale, old);

        assertThat(stale.renew(old).verdict()).isEqualTo(Verdict.LOST);
        assertThat(next.isHeld(name)).isFalse();

        Grant present = next.hold(name);
        assertThat(stale.renew(old).verdict()).isEqualTo(Verdict.LOST);
        assertThat(next.isHeldBy(present)).isTrue();
    }

    @Test
    void aReleasedGrantIsNotRenewed() {
        RawClient one = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        one.release(grant);

        assertThat(one.renew(grant).verdict()).isEqualTo(Verdict.LOST);
        assertThat(one.isHeld(name)).isFalse();
    }

    @Test
    void aStaleHoldersExtensionRevivesNothing() {
        RawClient stale = rig.raw();
        RawClient next = rig.raw();
        String name = rig.name();
        Grant old = stale.hold(name, rig.brief());
        rig.makeStale(stale, old);

        assertThat(stale.extend(old)).isEmpty();
        assertThat(next.isHeld(name)).isFalse();

        Grant present = next.hold(name);
        assertThat(stale.extend(old)).isEmpty();
        assertThat(next.isHeldBy(present)).isTrue();
    }

    @Test
    void aStaleHoldersWithdrawalChangesNothing() {
        RawClient stale = rig.raw();
        RawClient next = rig.raw();
        String name = rig.name();
        var claim = Claims.lease(Claims.of(name), rig.brief());
        rig.makeStale(stale, stale.hold(claim));
        Grant present = next.hold(name);

        stale.withdraw(claim);

        assertThat(next.isHeldBy(present)).isTrue();
    }

    @Test
    void aSecondReleaseFindsNothingAndHarmsNobody() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);

        assertThat(one.release(grant)).isTrue();
        assertThat(one.release(grant)).isFalse();

        Grant present = two.hold(name);
        assertThat(one.release(grant)).isFalse();
        assertThat(two.isHeldBy(present)).isTrue();
    }

    @Test
    void onlyTheClaimIdTellsWhoseAGrantIs() {
        RawClient one = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        Grant forged = new Grant(
                ClaimId.random(), grant.name(), grant.mode(), grant.lease(), grant.number(), grant.sentNanos());

        assertThat(one.renew(forged).verdict()).isEqualTo(Verdict.LOST);
        assertThat(one.extend(forged)).isEmpty();
        assertThat(one.release(forged)).isFalse();

        assertThat(one.isHeldBy(grant)).isTrue();
    }

    @Test
    void aReleaseCountsWhateverNumberAndLeaseTheGrantIsRememberedWith() {
        RawClient one = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        Grant remembered = new Grant(grant.id(), grant.name(), grant.mode(), rig.brief(), 1L, rig.now());

        assertThat(one.release(remembered)).isTrue();
        assertThat(one.isHeld(name)).isFalse();
    }
}
