package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Grant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** {@code sentNanos}, from which the engine counts: read from the client's own time, before the request was sent. */
abstract class StampCases extends Cases {
    StampCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void aGrantIsStampedBetweenTheCallAndTheAnswer() {
        RawClient one = rig.raw();
        long before = rig.now();
        Grant grant = one.hold(rig.name());
        assertThat(grant.sentNanos()).isBetween(earliest(before, grant), rig.now());

        before = rig.now();
        Grant again = one.hold(Claims.waiting(Claims.of(rig.name())));
        assertThat(again.sentNanos()).as("of a claim that may wait").isBetween(earliest(before, again), rig.now());
    }

    @Test
    void aRenewalIsStampedBetweenTheCallAndTheAnswer() {
        RawClient one = rig.raw();
        Grant grant = one.hold(rig.name());
        long before = rig.now();
        assertThat(one.renew(grant).sentNanos()).isBetween(earliest(before, grant), rig.now());

        one.release(grant);
        before = rig.now();
        assertThat(one.renew(grant).sentNanos()).as("of a lost grant").isBetween(before, rig.now());
    }

    @Test
    void anExtensionIsStampedBetweenTheCallAndTheAnswer() {
        RawClient one = rig.raw();
        Grant grant = one.hold(rig.name());
        long before = rig.now();
        Optional<Grant> extended = one.extend(grant);
        long after = rig.now();
        assertThat(extended.isPresent()).isEqualTo(rig.capabilities().extendable());
        extended.ifPresent(fresh -> assertThat(fresh.sentNanos()).isBetween(before, after));
    }

    @Test
    void aWaitersGrantIsStampedWhileItWaitedAndNotAfterItWasGranted() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant grant = one.hold(name);
        long before = rig.now();
        RawClient.Queued waiting = two.queue(name);
        one.release(grant);

        Grant next = waiting.granted();

        assertThat(next.sentNanos()).isBetween(earliest(before, next), rig.now());
        long stamp = next.sentNanos();
        rig.pass(rig.brief().dividedBy(4));
        assertThat(two.hold(Claims.waiting(waiting.claim())).sentNanos())
                .as("asked again, the lease begins anew")
                .isGreaterThan(stamp);
    }

    /** A grant of a session lives as long as that is proved to live, perhaps by what was sent before the call. */
    private long earliest(long called, Grant grant) {
        return rig.capabilities().sessionBound() ? called - grant.lease().toNanos() : called;
    }
}
