package dev.holdfast.internal;

import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A writer becomes a reader on one thread while another closes its hold: it is closed, wherever it is by then.
 *
 * <p>Fails if {@code LocalLock.end} asks whose the hold is before it has the mutex.
 */
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("thorough")
@Tag("same-on-each-jdk")
public class DowngradeAndCloseInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Waiter writer = race.queued();

    @Operation
    public void downgrade() {
        try {
            LocalRace.holdOf(writer).downgrade();
        } catch (IllegalStateException closedBefore) {
            // then there is nothing left to read under
        }
    }

    @Operation
    public void close() {
        LocalRace.closeHoldOf(writer);
    }

    @Operation
    public String atRest() {
        return race.left();
    }

    @Test
    void nothingIsLeft() {
        LocalRace.check(DowngradeAndCloseInterleavingsTest.class, "downgrade", "close");
    }
}
