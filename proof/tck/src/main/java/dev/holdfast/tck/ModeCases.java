package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.LockMode;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import dev.holdfast.spi.support.Asked;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The modes that a store says it grants, and the refusal of all others. */
abstract class ModeCases extends Cases {
    private static final Map<LockMode, Mode> SAMPLES = Map.of(
            LockMode.EXCLUSIVE, Mode.EXCLUSIVE, LockMode.SHARED, Mode.SHARED, LockMode.PERMITS, new Permits(1, 2));

    ModeCases(StoreContract contract) {
        super(contract);
    }

    @Test
    void eachModeIsGrantedOrRefusedAsTheCapabilitiesSay() {
        RawClient one = rig.raw();
        SAMPLES.forEach((kind, mode) -> {
            Claim claim = Claims.mode(Claims.of(rig.name()), mode);
            if (rig.capabilities().modes().contains(kind)) {
                Grant grant = one.hold(claim);
                assertThat(grant.mode()).isEqualTo(mode);
                assertThat(one.status(claim.name()).grant().orElseThrow().mode())
                        .isEqualTo(kind);
                assertThat(one.release(grant)).isTrue();
            } else {
                assertRefused(one, claim);
                assertRefused(one, Claims.waiting(claim));
            }
        });
    }

    @Test
    void readersShareANameAndExcludeTheWriter() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.SHARED), "this store has no shared mode");
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Claim reading = Claims.mode(Claims.of(name), Mode.SHARED);
        Grant first = one.hold(reading);
        Grant second = two.hold(Claims.mode(Claims.of(name), Mode.SHARED));

        assertThat(two.attempt(name)).isEmpty();
        one.release(first);
        assertThat(two.attempt(name)).as("with one reader left").isEmpty();
        two.release(second);
        Grant writer = one.hold(name);
        assertThat(writer.number()).isGreaterThan(Math.max(first.number(), second.number()));
        assertThat(two.ask(Claims.mode(Claims.of(name), Mode.SHARED))).isEmpty();
        one.release(writer);
        assertThat(two.hold(Claims.mode(Claims.of(name), Mode.SHARED)).number()).isGreaterThan(writer.number());
    }

    @Test
    void aWriterThatWaitsIsServedWhenTheReadersAreGone() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.SHARED), "this store has no shared mode");
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        Grant reader = one.hold(Claims.mode(Claims.of(name), Mode.SHARED));
        RawClient.Queued writer = two.queue(name);
        if (rig.capabilities().fair()) {
            assertThat(rig.raw().ask(Claims.mode(Claims.of(name), Mode.SHARED)))
                    .as("a reader that comes after the writer")
                    .isEmpty();
        }

        one.release(reader);

        assertThat(two.isHeldBy(writer.granted())).isTrue();
    }

    @Test
    void aWriterThatIsMadeAReaderStandsAsItDidAndReadersComeInWhereTheStoreSaysSo() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.SHARED), "this store has no shared mode");
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name());
        boolean reads = one.downgrade(grant);

        Optional<Grant> reader = askToRead(two, grant.name());
        assertThat(reader.isPresent()).as("a reader comes in").isEqualTo(reads);
        assertThat(two.attempt(grant.name())).as("a writer").isEmpty();
        assertThat(one.downgrade(grant)).as("once more").isEqualTo(reads);
        assertThat(one.isHeldBy(grant)).isTrue();
        reader.ifPresent(beside -> {
            assertThat(beside.number()).isGreaterThan(grant.number());
            assertThat(one.status(grant.name()).grant().orElseThrow().mode()).isEqualTo(LockMode.SHARED);
            assertThat(two.release(beside)).isTrue();
            assertThat(two.attempt(grant.name())).as("a writer").isEmpty();
        });
        assertThat(one.isHeldBy(grant)).isTrue();
        assertThat(one.release(grant)).isTrue();
        assertThat(one.release(grant)).as("a second release").isFalse();
        Grant next = two.hold(grant.name());
        assertThat(next.number()).isGreaterThan(grant.number());
        assertThat(one.downgrade(grant)).as("of one that is gone").isFalse();
        assertThat(two.isHeldBy(next)).isTrue();
        assertThat(askToRead(one, grant.name())).isEmpty();
    }

    @Test
    void readersWhoWaitComeInWhenAWriterIsMadeAReaderUpToTheNextWriter() {
        RawClient one = rig.raw();
        assumeTrue(rig.capabilities().modes().contains(LockMode.SHARED), "this store has no shared mode");
        Grant grant = one.hold(rig.name());
        RawClient.Queued reader = rig.raw().queue(Claims.mode(Claims.of(grant.name()), Mode.SHARED));
        RawClient.Queued writer = rig.raw().queue(grant.name());

        boolean reads = one.downgrade(grant);

        if (reads) {
            assertThat(one.release(reader.granted())).isTrue();
        }
        assertThat(writer.isAnswered()).isFalse();
        assertThat(one.release(grant)).isTrue();
        if (!reads) {
            rig.patience.until("one of them to come in", () -> reader.isAnswered() || writer.isAnswered());
            RawClient.Queued first = reader.isAnswered() ? reader : writer;
            assertThat(one.release(first.granted())).isTrue();
            assertThat(first == reader ? writer.granted() : reader.granted()).isNotNull();
        } else {
            assertThat(one.isHeldBy(writer.granted())).isTrue();
        }
    }

    @Test
    void aWriterThatIsMadeAReaderKeepsItsLease() {
        rig.assumeLeased();
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        Grant grant = one.hold(rig.name(), rig.brief());
        one.downgrade(grant);

        Grant next = two.hold(Claims.waiting(Claims.of(grant.name())));

        assertThat(next.number()).isGreaterThan(grant.number());
        assertThat(one.isHeldBy(grant)).isFalse();
        assertThat(one.downgrade(grant)).isFalse();
        assertThat(one.release(grant)).isFalse();
        assertThat(two.isHeldBy(next)).isTrue();
    }

    @Test
    void noMorePermitsAreOutThanThereAre() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.PERMITS), "this store has no permits");
        RawClient one = rig.raw();
        RawClient two = rig.raw();
        String name = rig.name();
        List<Grant> grants = new ArrayList<>();
        for (RawClient client : List.of(one, two, one)) {
            grants.add(client.hold(permits(name, 1)));
        }
        assertThat(two.ask(permits(name, 1))).isEmpty();

        assertThat(one.release(grants.get(0))).isTrue();
        assertThat(one.release(grants.get(0))).as("a second release").isFalse();
        assertThat(two.ask(permits(name, 2))).as("two where one is free").isEmpty();
        Optional<Grant> again = two.ask(permits(name, 1));
        assertThat(again).isPresent();
        assertThat(one.ask(permits(name, 1))).isEmpty();
        assertThat(grants)
                .extracting(Grant::number)
                .doesNotHaveDuplicates()
                .doesNotContain(again.get().number());
    }

    @Test
    void aPermitThatNobodyReturnsComesBackByItself() {
        assumeTrue(rig.capabilities().modes().contains(LockMode.PERMITS), "this store has no permits");
        rig.assumeLeased();
        RawClient one = rig.raw();
        String name = rig.name();
        one.hold(Claims.lease(permits(name, 3), rig.brief()));

        Grant next = rig.raw().hold(Claims.waiting(permits(name, 3)));

        assertThat(next.mode()).isEqualTo(new Permits(3, 3));
    }

    private static Optional<Grant> askToRead(RawClient client, String name) {
        return client.ask(Claims.mode(Claims.of(name), Mode.SHARED));
    }

    private void assertRefused(RawClient client, Claim claim) {
        assertThat(rig.patience.failure(() -> Asked.of(client.store, claim).answer(), claim.toString()))
                .isInstanceOf(UnsupportedByStoreException.class);
        assertThat(client.isHeld(claim.name()))
                .as("the name of a refused claim")
                .isFalse();
        assertThat(client.waiting(claim.name())).isZero();
    }

    private static Claim permits(String name, int permits) {
        return Claims.mode(Claims.of(name), new Permits(permits, 3));
    }
}
