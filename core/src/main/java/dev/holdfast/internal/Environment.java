package dev.holdfast.internal;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The environment of an engine besides its store: time, threads and random ids. A test that controls all of them
 * decides everything an engine does; the simulation does so.
 *
 * @param time the source of time; null for the system's, with a timer thread of the engine's own
 * @param completing where the futures of asynchronous callers complete; null for threads of the engine's own
 * @param notifying where listeners run, one after another; null for a thread of the engine's own
 * @param awaiting how a closing thread waits until a future is complete, however it completes
 * @param parking how an acquiring thread parks until it is woken; as {@link LockSupport#park(Object)} it may return sooner
 * @param ids the source of the identities of claims: no two may ever be the same
 */
public record Environment(
        @Nullable TimeSource time,
        @Nullable Executor completing,
        @Nullable Executor notifying,
        Consumer<CompletableFuture<?>> awaiting,
        Consumer<Object> parking,
        Supplier<ClaimId> ids) {

    /** The real environment, with the time and the threads of a client's settings. */
    public static Environment ofThisMachine(
            @Nullable TimeSource time, @Nullable Executor completing, @Nullable Executor notifying) {
        return new Environment(time, completing, notifying, Environment::park, LockSupport::park, ClaimId::random);
    }

    private static void park(CompletableFuture<?> future) {
        future.handle((answer, failure) -> true).join();
    }
}
