package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holder;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A grant comes, or falls into doubt, while the renewer goes through those it has: whatever the order, a wake-up is
 * planned no later than the first of them is due, and none is left over at the end. {@code -Dmeetings=1000000} lets them
 * meet as often.
 *
 * <p>The first fails if {@code LeaseRenewer.watch} plans before it adds the grant; both fail if {@code LeaseRenewer.wakeBy} sets
 * without comparing, or does not cancel a wake-up that was replaced while it was planned.
 */
class LeaseRenewerRaceTest {
    private static final int MEETINGS = Integer.getInteger("meetings", 20_000);
    private static final Duration SHORT = Duration.ofSeconds(12);
    private static final Duration LONG = Duration.ofSeconds(21);

    private final PlannedTime time = new PlannedTime();
    private final LocalRace race = new LocalRace(time);
    private final Store store = race.store.open();
    private final Meeting meeting = new Meeting();

    @AfterEach
    void stop() {
        meeting.close();
        race.engine.close();
    }

    @Test
    void aGrantThatComesDuringATickIsPlannedFor() {
        for (int i = 0; i < MEETINGS; i++) {
            LeaseRenewer renewer = renewer();
            GrantState first = grant("a", SHORT);
            GrantState second = grant("b", LONG);
            renewer.keep(first);
            time.set(first.dueAt());

            meeting.of(time::runDue, () -> renewer.keep(second));

            assertPlannedFor(i, first, second);
            end(renewer, first, second);
        }
    }

    @Test
    void aGrantThatFallsIntoDoubtDuringATickIsPlannedFor() {
        for (int i = 0; i < MEETINGS; i++) {
            LeaseRenewer renewer = renewer();
            GrantState first = grant("a", SHORT);
            GrantState second = grant("b", LONG);
            renewer.keep(first);
            renewer.keep(second);
            time.set(first.dueAt());

            meeting.of(time::runDue, () -> renewer.doubt(second));

            assertPlannedFor(i, first, second);
            end(renewer, first, second);
        }
    }

    private void assertPlannedFor(int meeting, GrantState... grants) {
        for (GrantState grant : grants) {
            assertThat(time.firstPlanned())
                    .as("the next wake-up after meeting %d", meeting)
                    .isLessThanOrEqualTo(grant.dueAt());
        }
    }

    private LeaseRenewer renewer() {
        return new LeaseRenewer(
                new StoreLink(race.engine, StoreOpening.of(store, time)), ElapsedTime.of(time), race.engine.telemetry);
    }

    private GrantState grant(String name, Duration lease) {
        LockName of = race.engine.name(name, Mode.EXCLUSIVE);
        Claim claim = new Claim(race.nextId(), name, Mode.EXCLUSIVE, lease, true, 0, new Holder("host", 1, "test", ""));
        Grant granted = Asked.of(store, claim).answer().join().orElseThrow();
        return new GrantState(
                new LocalLock(race.engine, of).side(of), granted, true, store.capabilities(), ElapsedTime.of(time), 0);
    }

    private void end(LeaseRenewer renewer, GrantState... grants) {
        for (GrantState grant : grants) {
            renewer.forget(grant);
            store.release(grant.grant()).toCompletableFuture().join();
        }
        renewer.close();
        assertThat(time.firstPlanned()).isEqualTo(PlannedTime.NEVER);
    }
}
