package dev.holdfast.internal;

import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A holder closes while the next caller gives up: one of the two outcomes counts, and whoever comes after is served.
 *
 * <p>Fails if {@code Waiter.resolve} looks first and sets afterwards.
 */
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("thorough")
@Tag("same-on-each-jdk")
public class CloseAndCancelInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Waiter first = race.queued();
    private final Waiter second = race.queued();
    private final Waiter third = race.queued();

    @Operation
    public void close() {
        LocalRace.closeHoldOf(first);
    }

    @Operation
    public boolean giveUp() {
        return race.cancel(second);
    }

    @Operation
    public String atRest() {
        return LocalRace.end(second) + ", " + LocalRace.end(third) + ", " + race.left();
    }

    @Test
    void oneOutcomeCounts() {
        LocalRace.check(CloseAndCancelInterleavingsTest.class, "close", "giveUp");
    }
}
