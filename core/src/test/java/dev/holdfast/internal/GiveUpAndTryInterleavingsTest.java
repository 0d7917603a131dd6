package dev.holdfast.internal;

import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * While another client has the lock, the only caller here gives up, which calls the claim off, and another tries once: the
 * try is answered, and nothing is left.
 *
 * <p>Fails if {@code ExclusiveQueue.passOn} does not look for one who tries.
 */
@Tag("thorough")
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("same-on-each-jdk")
public class GiveUpAndTryInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Runnable rival = race.rival();
    private final Waiter first = race.queued();
    private final Waiter trying =
            new Waiter(Mode.EXCLUSIVE, LocalRace.OPTIONS, Duration.ZERO, false, null, 0, () -> {});

    @Operation
    public boolean giveUp() {
        return race.cancel(first);
    }

    @Operation
    public void tryOnce() {
        race.engine.locks.submit(race.lock, trying);
    }

    @Operation
    public String atRest() {
        rival.run();
        String left = race.left();
        return (trying.outcome() == null ? "forgotten" : "answered") + ", " + left;
    }

    @Test
    void theTryIsAnswered() {
        LocalRace.checkWithStore(GiveUpAndTryInterleavingsTest.class, "giveUp", "tryOnce");
    }
}
