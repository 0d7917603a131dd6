package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A grant comes, or falls into doubt, while the keeper goes through those it has: whatever the order, a wake-up is
 * planned no later than the first of them is due, and none is left over at the end. {@code -Dmeetings=1000000} lets them
 * meet as often.
 *
 * <p>The first fails if {@code Keeper.watch} plans before it adds the grant; both fail if {@code Keeper.wakeBy} sets
 * without comparing, or does not cancel a wake-up that was replaced while it was planned.
 */
@Tag("both-jdks")
class KeeperRaceTest {
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
            Keeper keeper = keeper();
            LiveGrant first = grant("a", SHORT);
            LiveGrant second = grant("b", LONG);
            keeper.watch(first);
            time.set(first.dueAt());

            meeting.of(time::runDue, () -> keeper.watch(second));

            assertPlannedFor(i, first, second);
            end(keeper, first, second);
        }
    }

    @Test
    void aGrantThatFallsIntoDoubtDuringATickIsPlannedFor() {
        for (int i = 0; i < MEETINGS; i++) {
            Keeper keeper = keeper();
            LiveGrant first = grant("a", SHORT);
            LiveGrant second = grant("b", LONG);
            keeper.watch(first);
            keeper.watch(second);
            time.set(first.dueAt());

            meeting.of(time::runDue, () -> keeper.doubt(second));

            assertPlannedFor(i, first, second);
            end(keeper, first, second);
        }
    }

    private void assertPlannedFor(int meeting, LiveGrant... grants) {
        for (LiveGrant grant : grants) {
            assertThat(time.firstPlanned())
                    .as("the next wake-up after meeting %d", meeting)
                    .isLessThanOrEqualTo(grant.dueAt());
        }
    }

    private Keeper keeper() {
        return new Keeper(store, time, race.engine.observer());
    }

    private LiveGrant grant(String name, Duration lease) {
        LockName of = race.engine.name(name, Mode.EXCLUSIVE);
        Claim claim =
                new Claim(race.nextId(), List.of(name), Mode.EXCLUSIVE, lease, true, 0, new Host("").holder("test"));
        Grant granted = store.claim(claim).answer().toCompletableFuture().join().orElseThrow();
        return new LiveGrant(new LocalLock(race.engine, of), granted, true, store.capabilities(), time, 0);
    }

    private void end(Keeper keeper, LiveGrant... grants) {
        for (LiveGrant grant : grants) {
            keeper.forget(grant);
            store.release(grant.grant()).toCompletableFuture().join();
        }
        keeper.close();
        assertThat(time.firstPlanned()).isEqualTo(PlannedTime.NEVER);
    }
}
