package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import dev.holdfast.spi.Mode;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Close and loss race for a hold: it ends once, and who sees that it is lost sees the reason that counted.
 *
 * <p>Fails in its first scenarios if {@code HoldState.close()} looks first and sets afterwards.
 */
@Timeout(value = Interleavings.PATIENCE_MINUTES, unit = TimeUnit.MINUTES)
@Tag("thorough") // GrantInterleavingsTest shows the same of the grant below
public class HoldInterleavingsTest {
    private final HoldState hold = new HoldState(
            GrantInterleavingsTest.grant(),
            "a",
            1,
            Waiter.callback(Mode.EXCLUSIVE, HoldOptions.defaults(), true, 0, () -> {}),
            new ReferenceQueue<>(),
            0);

    private static Loss loss(Loss.Cause cause) {
        return new Loss("a", 1, cause, "store");
    }

    @Operation
    public boolean close() {
        return hold.close();
    }

    @Operation
    public boolean loseToTheStore() {
        return hold.lose(loss(Loss.Cause.SESSION_ENDED));
    }

    @Operation
    public boolean loseToTime() {
        return hold.lose(loss(Loss.Cause.NOT_RENEWED_IN_TIME));
    }

    @Operation
    public boolean isOpen() {
        return hold.isOpen();
    }

    @Operation
    public String loss() {
        return hold.isLost() ? hold.loss().cause().name() : "none";
    }

    @Test
    void itEndsOnceAndForOneReason() {
        Interleavings.check(HoldInterleavingsTest.class);
    }
}
