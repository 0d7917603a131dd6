package dev.holdfast.internal;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.TimeSource;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an engine takes from the world around it besides its store: time, threads and chance. With all four in its hands
 * a test decides everything an engine does; the simulation does so.
 *
 * @param time the source of time; null for the system's, with a timer thread of the engine's own
 * @param completing where asynchronous callers go on
 * @param telling where listeners run, one after another; null for a thread of the engine's own
 * @param ids where the identities of claims come from: no two may ever be the same
 */
public record Seams(
        @Nullable TimeSource time,
        Executor completing,
        @Nullable Executor telling,
        Supplier<ClaimId> ids) {

    /** The world as it is. */
    public static Seams ofThisMachine(@Nullable TimeSource time, Executor completing) {
        return new Seams(time, completing, null, ClaimId::random);
    }
}
