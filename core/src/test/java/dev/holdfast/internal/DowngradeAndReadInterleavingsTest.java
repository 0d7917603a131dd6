package dev.holdfast.internal;

import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A writer becomes a reader while another reader of its client comes: both read, and nothing is left behind.
 */
@Tag("thorough")
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("same-on-each-jdk")
public class DowngradeAndReadInterleavingsTest {
    private final LocalRace race = new LocalRace();
    private final Waiter writer = race.queued();
    private final Waiter reader = LocalRace.reader();

    @Operation
    public void downgrade() {
        LocalRace.holdOf(writer).downgrade();
    }

    @Operation
    public void read() {
        race.submit(reader);
    }

    @Operation
    public String atRest() {
        String read = LocalRace.end(reader);
        LocalRace.closeHoldOf(writer);
        return read + ", " + race.left();
    }

    @Test
    void bothRead() {
        LocalRace.check(DowngradeAndReadInterleavingsTest.class, "downgrade", "read");
    }
}
