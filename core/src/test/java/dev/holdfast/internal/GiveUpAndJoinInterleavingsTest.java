package dev.holdfast.internal;

import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * While another client has the lock, the only caller here gives up, which calls the claim off, and another joins: the
 * claim that is called off is not the end of the one who joined.
 *
 * <p>Fails if {@code WaitQueue.answered} does not go on to the next caller after an empty answer.
 */
@Tag("thorough")
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("same-on-each-jdk")
public class GiveUpAndJoinInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Runnable rival = race.rival();
    private final Waiter first = race.queued();
    private final Waiter second = LocalRace.caller();

    @Operation
    public boolean giveUp() {
        return race.cancel(first);
    }

    @Operation
    public void join() {
        race.engine.locks.submit(race.lock, second);
    }

    @Operation
    public String atRest() {
        rival.run();
        return LocalRace.end(second) + ", " + race.left();
    }

    @Test
    void whoJoinedIsServed() {
        LocalRace.check(GiveUpAndJoinInterleavingsTest.class, "giveUp", "join");
    }
}
