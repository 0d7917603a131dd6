package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How long grants live, and what moves their end. */
abstract class LeaseCases extends Cases {
    private static final int BATCH = 1_000;

    LeaseCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aGrantRunsOutByItselfAfterItsLeaseNotBefore() {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name, rig.brief());

        two.holdWhenFree(name);

        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(rig.brief()));
        assertThat(one.renew(grant).verdict()).isEqualTo(Verdict.LOST);
    }

    @Test
    void aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt() {
        rig.assumeSessionBound();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name, rig.brief());

        rig.pass(rig.brief().multipliedBy(2));
        assertThat(two.attempt(name)).isEmpty();
        assertThat(one.isHeldBy(grant)).isTrue();

        one.store.close();
        two.holdWhenFree(name);
    }

    @Test
    void theSameClaimAskedAgainBeginsItsLeaseAnew() throws Exception {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        rig.unhurried(() -> {
            Claim claim = Claims.lease(Claims.of(rig.name()), rig.brief());
            Grant first = one.hold(claim);
            rig.pass(rig.brief().dividedBy(2));

            Grant second = one.hold(claim);

            two.holdWhenFree(claim.name());
            assertThat(second.sentNanos() - first.sentNanos()).isPositive();
            assertThat(rig.now() - second.sentNanos()).isGreaterThanOrEqualTo(Rig.least(rig.brief()));
        });
    }

    @Test
    void aRenewalBeginsTheLeaseAnew() throws Exception {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        rig.unhurried(() -> {
            String name = rig.name();
            Grant grant = one.hold(name, rig.brief());
            rig.pass(rig.brief().dividedBy(2));

            Renewal renewal = one.renew(grant);

            throwIfLate(grant, renewal);
            two.holdWhenFree(name);
            assertThat(rig.now() - renewal.sentNanos()).isGreaterThanOrEqualTo(Rig.least(rig.brief()));
        });
    }

    @Test
    void aRenewalIsForTheLeaseTheGrantStates() throws Exception {
        rig.assumeLeased();
        RawClient one = rig.raw();
        rig.unhurried(() -> {
            String name = rig.name();
            Grant grant = one.hold(name, rig.brief());
            throwIfLate(grant, one.renew(grant.withLease(Claims.LONG)));
            assertThat(leaseLeft(one, name)).isBetween(Claims.LONG.dividedBy(2), Claims.LONG);

            assertThat(one.isHeldBy(grant.withLease(rig.brief())))
                    .as("shorter again")
                    .isTrue();
            rig.raw().holdWhenFree(name);
        });
    }

    @Test
    void aRenewalOfALongerLeaseOutlastsTheFirst() throws Exception {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        rig.unhurried(() -> {
            String name = rig.name();
            Grant grant = one.hold(name, rig.brief());
            throwIfLate(grant, one.renew(grant.withLease(Claims.LONG)));

            rig.pass(rig.brief());

            assertThat(two.attempt(name)).isEmpty();
            assertThat(one.isHeldBy(grant.withLease(Claims.LONG))).isTrue();
        });
    }

    @Test
    void aBatchOfRenewalsHasAnAnswerForEachGrant() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String prefix = rig.name();
        List<Grant> batch = new ArrayList<>();
        List<Verdict> expected = new ArrayList<>();
        for (int i = 0; i < BATCH; i++) {
            boolean foreign = i % 3 == 2;
            boolean released = i % 3 == 1;
            Grant grant = (foreign ? two : one).hold(prefix + i);
            if (released) {
                one.release(grant);
            }
            batch.add(foreign ? forged(grant) : grant);
            expected.add(foreign || released ? Verdict.LOST : Verdict.HELD);
        }

        Map<ClaimId, Renewal> answers = one.renew(batch);

        assertThat(answers).hasSize(BATCH);
        assertThat(batch)
                .extracting(grant -> RawClient.answerFor(grant, answers).verdict())
                .isEqualTo(expected);
        assertThat(one.list(prefix)).as("what is held afterwards").hasSize(BATCH - BATCH / 3);
    }

    @Test
    void aBatchOfNoneIsAnsweredWithNone() {
        assertThat(rig.raw().renew(List.of())).isEmpty();
    }

    @Test
    void aBatchMayStateALeaseForEachGrant() {
        rig.assumeLeased();
        RawClient one = rig.raw();
        Grant first = one.hold(rig.name());
        Grant second = one.hold(rig.name());
        Duration other = Claims.LONG.multipliedBy(3);

        one.renew(List.of(first, second.withLease(other)));

        assertThat(leaseLeft(one, first.name())).isLessThanOrEqualTo(Claims.LONG);
        assertThat(leaseLeft(one, second.name())).isBetween(Claims.LONG.multipliedBy(2), other);
    }

    @Test
    void aRenewalTellsWhetherOthersWait() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant wanted = one.hold(rig.name());
        Grant unwanted = one.hold(rig.name());
        RawClient.Queued waiting = two.queue(wanted.name());

        Map<ClaimId, Renewal> answers = one.renew(List.of(wanted, unwanted));
        assertThat(RawClient.answerFor(wanted, answers).contended())
                .isEqualTo(rig.capabilities().countsWaiters());
        assertThat(RawClient.answerFor(unwanted, answers).contended()).isFalse();

        waiting.pending().cancel();
        assertThat(waiting.answer()).isEmpty();
        assertThat(one.renew(wanted).contended()).isFalse();

        RawClient.Queued later = two.queue(wanted.name());
        assertThat(one.renew(wanted).contended())
                .as("after a renewal that saw nobody")
                .isEqualTo(rig.capabilities().countsWaiters());
        later.pending().cancel();
        assertThat(later.answer()).isEmpty();
    }

    @Test
    void aRenewalRacingTheReleaseNeverLeavesTheNameHeld() {
        RawClient one = rig.raw();
        for (int round = 0; round < rig.contract.rounds(); round++) {
            Grant grant = one.hold(rig.name());

            rig.race(() -> one.renew(grant), () -> one.release(grant));

            assertThat(one.isHeld(grant.name())).isFalse();
        }
    }

    @Test
    void anExtensionIsRefusedWhileAnotherClientWaitsAndTheGrantStands() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        RawClient.Queued waiting = two.queue(name);

        assertThat(one.extend(grant)).isEmpty();

        assertThat(one.isHeldBy(grant)).isTrue();
        one.release(grant);
        assertThat(waiting.granted().number()).isGreaterThan(grant.number());
    }

    @Test
    void anExtensionBeginsTheLeaseAnewWhereItCanBeHad() throws Exception {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        rig.unhurried(() -> {
            String name = rig.name();
            Grant grant = one.hold(name, rig.brief());
            rig.pass(rig.brief().dividedBy(2));

            Optional<Grant> extended = one.extend(grant);

            if (rig.capabilities().extendable() && extended.isEmpty()) {
                throwIfDue(grant);
            }
            Grant standing = extended.orElse(grant);
            two.holdWhenFree(name);
            assertThat(rig.now() - standing.sentNanos()).isGreaterThanOrEqualTo(Rig.least(rig.brief()));
        });
    }

    /** A renewal that is refused must have come when the lease was over. */
    private void throwIfLate(Grant grant, Renewal renewal) {
        if (renewal.verdict() != Verdict.HELD) {
            assertThat(renewal.verdict()).isEqualTo(Verdict.LOST);
            throwIfDue(grant);
        }
    }

    private void throwIfDue(Grant refused) {
        assertThat(rig.now() - refused.sentNanos())
                .as("too late, or else refused")
                .isGreaterThan(Rig.least(refused.lease()));
        throw new Rig.TooSlow();
    }

    private static Duration leaseLeft(RawClient client, String name) {
        return client.status(name).grant().orElseThrow().leaseLeft();
    }

    private static Grant forged(Grant of) {
        return new Grant(ClaimId.random(), of.name(), of.mode(), of.lease(), of.number(), of.sentNanos());
    }
}
