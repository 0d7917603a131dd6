package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Grant numbers, from which fencing tokens are made: they rise, whatever happens in between. */
abstract class NumberCases extends Cases {
    NumberCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void numbersRiseFromGrantToGrantAcrossClients() {
        String name = rig.name();
        List<RawClient> clients = List.of(rig.raw(), rig.raw(), rig.raw());
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            RawClient client = clients.get(i % clients.size());
            Grant grant = client.hold(name);
            numbers.add(grant.number());
            client.release(grant);
        }
        assertThat(numbers).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void numbersRiseAcrossAGrantThatNobodyReleased() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant silent = one.hold(name, rig.brief());
        rig.makeStale(one, silent);

        assertThat(two.hold(name).number()).isGreaterThan(silent.number());
    }

    @Test
    void numbersRiseAcrossABrokenLock() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant broken = one.hold(name);
        two.breakShown(name, true);

        // a member of a quorum that was late to grant the broken claim may leave tries in doubt for a moment
        assertThat(two.holdWhenFree(name).number()).isGreaterThan(broken.number());
    }

    @Test
    void numbersRiseAcrossAWithdrawnGrant() {
        RawClient one = rig.raw();
        Claim claim = Claims.of(rig.name());
        Grant unknown = one.hold(claim);
        one.withdraw(claim);

        assertThat(rig.raw().hold(claim.name()).number()).isGreaterThan(unknown.number());
    }

    @Test
    void numbersRiseAcrossAHandOverToAWaiter() {
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant first = one.hold(name);
        RawClient.Queued waiting = two.queue(name);
        one.release(first);

        assertThat(waiting.granted().number()).isGreaterThan(first.number());
    }

    @Test
    void numbersRiseAcrossAClientThatWentWithoutAWord() {
        RawClient gone = rig.raw();
        RawClient next = rig.raw();
        String name = rig.name();
        Grant left = gone.hold(name, rig.brief());
        gone.store.close();

        assertThat(next.holdWhenFree(name).number()).isGreaterThan(left.number());
    }

    @Test
    void numbersRiseAcrossAllClientsGoingAndOthersComing() {
        String name = rig.name();
        RawClient first = rig.raw();
        Grant before = first.hold(name);
        first.release(before);
        first.store.close();

        assertThat(rig.raw().hold(name).number()).isGreaterThan(before.number());
    }

    @Test
    void anExtendedGrantHasAHigherNumberWhereItCanBeHad() {
        RawClient one = rig.raw();
        String name = rig.name();
        Grant first = one.hold(name);

        Optional<Grant> extended = one.extend(first);

        assertThat(extended.isPresent()).isEqualTo(rig.capabilities().extendable());
        Grant standing = extended.orElse(first);
        extended.ifPresent(fresh -> {
            assertThat(fresh.number()).isGreaterThan(first.number());
            assertThat(fresh.id()).isEqualTo(first.id());
            assertThat(fresh.name()).isEqualTo(first.name());
        });
        assertThat(one.isHeldBy(standing)).isTrue();
        assertThat(one.release(standing)).isTrue();
        assertThat(rig.raw().hold(name).number()).isGreaterThan(standing.number());
    }

    @Test
    void aNumberIsAboveTheFloorOrTheClaimIsRefused() {
        RawClient one = rig.raw();
        String name = rig.name();
        Grant first = one.hold(name);
        one.release(first);
        long floor = first.number() + TimeUnit.HOURS.toMicros(1);

        Optional<Grant> above = heldAbove(floor, name, one);

        assertThat(one.isHeld(name)).isEqualTo(above.isPresent());
        above.ifPresent(raised -> {
            Grant standing = one.extend(raised).orElse(raised);
            assertThat(raised.number()).isGreaterThan(floor);
            assertThat(standing.number()).as("extended").isGreaterThanOrEqualTo(raised.number());
            one.release(standing);
            assertThat(rig.raw().hold(name).number())
                    .as("next, without a floor")
                    .isGreaterThan(standing.number());
        });
    }

    private static Optional<Grant> heldAbove(long floor, String name, RawClient client) {
        try {
            return Optional.of(client.hold(Claims.floor(Claims.of(name), floor)));
        } catch (StoreRefusedException refused) {
            return Optional.empty(); // a store that keeps its counter for ever need not be able to raise it
        }
    }

    @Test
    void numbersLeaveRoomForTokens() {
        Grant grant = rig.raw().hold(rig.name());
        if (grant.number() < 1 || grant.number() > Long.MAX_VALUE / 1024 - 1) {
            fail("no token can be made from the grant number " + grant.number());
        }
    }
}
