package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Status and list change nothing, whatever they find: leases that have run out, waiters, broken locks, free names. */
abstract class ReadingCases extends Cases {
    private static final Mode ONE_OF_TWO = new Permits(1, 2);
    private static final int READS = 3;

    ReadingCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void permitsThatRanOutComeBackThoughAStatusWasReadMeanwhile() {
        RawClient one = rig.raw();
        String name = oneRunsOutAndOneIsKept(one, ONE_OF_TWO);

        Claim second = Claims.mode(Claims.of(name), ONE_OF_TWO);
        Grant back = rig.patience.untilPresent("the permit that ran out", () -> readThenAsk(one, second));

        assertThat(one.ask(Claims.mode(Claims.of(name), ONE_OF_TWO)))
                .as("a third of two permits")
                .isEmpty();
        assertThat(one.isHeldBy(back)).isTrue();
    }

    @Test
    void aWriterComesInWhenTheLastReaderLeavesThoughAStatusWasReadMeanwhile() {
        assumeMode(Mode.SHARED);
        RawClient one = rig.raw();
        String name = rig.name();
        Grant kept = one.hold(Claims.mode(Claims.of(name), Mode.SHARED));
        runsOut(one, name, Mode.SHARED);
        read(one, name);

        assertThat(one.release(kept)).isTrue();
        read(one, name);

        assertThat(one.isHeldBy(one.holdWhenFree(name))).isTrue();
    }

    @Test
    void allPermitsCanBeTakenAgainWhenAllHaveRunOutWhileTheyWereRead() {
        allRunOutWhileTheyAreRead(ONE_OF_TWO);
    }

    @Test
    void aLockIsFreeWhenAllReadersHaveRunOutWhileTheyWereRead() {
        allRunOutWhileTheyAreRead(Mode.SHARED);
    }

    @Test
    void whatIsHeldAndWaitedForStaysAsItIs() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());
        RawClient.Queued waiting = two.queue(grant.name());

        for (int i = 0; i < READS; i++) {
            assertThat(told(one, grant.name())).contains(rig.counted(1));
        }

        assertThat(waiting.isAnswered()).isFalse();
        assertThat(one.isHeldBy(grant)).isTrue();
        assertThat(one.release(grant)).isTrue();
        assertThat(two.isHeldBy(waiting.granted())).isTrue();
    }

    @Test
    void aBrokenLockStaysBrokenUntilItsLeaseEnds() {
        rig.assumeLeased();
        RawClient one = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief().multipliedBy(2));
        one.breakGrant(grant, false);

        read(one, grant.name());
        Grant next = one.holdWhenFree(grant.name());

        assertThat(rig.now() - grant.sentNanos()).isGreaterThanOrEqualTo(Rig.least(grant.lease()));
        assertThat(next.number()).isGreaterThan(grant.number());
    }

    @Test
    void breakingAPermitThatHasRunOutTakesNothingFromTheOthers() {
        rig.assumeLeased();
        assumeMode(ONE_OF_TWO);
        RawClient one = rig.raw();
        String name = rig.name();
        Grant kept = one.hold(Claims.mode(Claims.of(name), ONE_OF_TWO));
        Grant ended = runsOut(one, name, ONE_OF_TWO);

        assertThat(one.breakGrant(ended, true)).isFalse();

        assertThat(one.attempt(name)).as("exclusively, beside a permit").isEmpty();
        one.hold(Claims.mode(Claims.of(name), ONE_OF_TWO));
        assertThat(one.ask(Claims.mode(Claims.of(name), ONE_OF_TWO)))
                .as("a third of two permits")
                .isEmpty();
        assertThat(one.isHeldBy(kept)).isTrue();
    }

    /** A name of which one grant has run out and another stands. */
    private String oneRunsOutAndOneIsKept(RawClient client, Mode mode) {
        assumeMode(mode);
        String name = rig.name();
        client.hold(Claims.mode(Claims.of(name), mode));
        runsOut(client, name, mode);
        return name;
    }

    /** One more grant, whose lease is over when this returns. */
    private Grant runsOut(RawClient client, String name, Mode mode) {
        rig.assumeLeased();
        Duration lease = rig.brief();
        Grant brief = client.hold(Claims.mode(Claims.lease(Claims.of(name), lease), mode));
        rig.pass(lease.plus(lease.dividedBy(2)));
        assertThat(brief.lease()).isEqualTo(lease);
        return brief;
    }

    private void allRunOutWhileTheyAreRead(Mode mode) {
        assumeMode(mode);
        RawClient one = rig.raw();
        String name = rig.name();
        Duration lease = rig.brief();
        one.hold(Claims.mode(Claims.lease(Claims.of(name), lease.multipliedBy(2)), mode));
        runsOut(one, name, mode);
        read(one, name);
        rig.patience.until("both to have run out", () -> {
            read(one, name);
            return !one.isHeld(name);
        });
        read(one, name);

        for (int i = 0; i < 2; i++) {
            assertThat(one.isHeldBy(one.hold(Claims.mode(Claims.of(name), mode))))
                    .isTrue();
        }
        assertThat(one.attempt(name)).isEmpty();
    }

    private Optional<Grant> readThenAsk(RawClient client, Claim claim) {
        read(client, claim.name());
        return client.ask(claim);
    }

    private static void read(RawClient client, String name) {
        for (int i = 0; i < READS; i++) {
            client.status(name);
            client.list(name);
        }
    }

    /** How many wait, by the list, which says the same as the status. */
    private static Optional<Integer> told(RawClient client, String name) {
        LockStatus status = client.status(name);
        Optional<LockStatus> listed = client.list(name).stream().findFirst();
        assertThat(listed.map(LockStatus::isHeld)).contains(status.isHeld());
        assertThat(listed.flatMap(LockStatus::grant).map(LockStatus.Held::token))
                .isEqualTo(status.grant().map(LockStatus.Held::token));
        return listed.map(LockStatus::waiting);
    }

    private void assumeMode(Mode mode) {
        LockMode kind = mode.kind();
        assumeTrue(rig.capabilities().modes().contains(kind), "this store has no mode " + kind);
    }
}
