package dev.holdfast.internal;

import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The last holder closes while another caller joins: whether or not the lock retires in between, nobody is forgotten.
 *
 * <p>Fails if {@code ExclusiveQueue.retire} does not look at the queue again after it has retired the lock.
 */
@Tag("thorough")
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("same-on-each-jdk")
public class CloseAndJoinInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Waiter first = race.queued();
    private final Waiter second = LocalRace.caller();

    @Operation
    public void close() {
        LocalRace.closeHoldOf(first);
    }

    @Operation
    public void join() {
        race.engine.locks.submit(race.lock, second);
    }

    @Operation
    public String atRest() {
        return LocalRace.end(second) + ", " + race.left();
    }

    @Test
    void nobodyIsForgotten() {
        LocalRace.check(CloseAndJoinInterleavingsTest.class, "close", "join");
    }
}
