package dev.holdfast.internal;

import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A grant is doubted while the answer of a renewal sent before comes: the doubt remains, and is due to be settled at
 * once, not a third of a lease later, and takes nothing of the time that the renewal gave.
 *
 * <p>Has found, within a second, that the renewal wrote the next due time over that of the doubt, and later that the doubt
 * kept the deadline before the renewal.
 */
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("thorough")
@Tag("same-on-each-jdk")
public class DoubtInterleavingsTest {
    private static final long JUST_BEFORE = -1;
    private static final long LONG_BEFORE = Duration.ofSeconds(-10).toNanos();

    private final TimeSource still = new StillTime();
    private final GrantState grant = new GrantState(
            null, granted(), true, new MemoryStore(still).open().capabilities(), ElapsedTime.of(still), 0);

    private static Grant granted() {
        return new Grant(
                ClaimId.of("00000000000000000000000000000000"),
                "a",
                Mode.EXCLUSIVE,
                Duration.ofSeconds(30),
                1L,
                LONG_BEFORE);
    }

    @Operation
    public boolean doubt() {
        return grant.doubt();
    }

    @Operation
    public boolean confirm() {
        return grant.confirm(grant.grant(), JUST_BEFORE, 0);
    }

    @Operation
    public String atRest() {
        return (grant.isSuspect() ? "suspect" : "valid") + (grant.isDue(still.nanoTime()) ? ", due" : ", not due")
                + ", until " + grant.deadline();
    }

    @Test
    void aDoubtIsDueAtOnce() {
        Interleavings.race(DoubtInterleavingsTest.class, "doubt", "confirm");
    }
}
