package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How a future acquires. It completes on the client's executor and, unless that is the executor's choice, never on the
 * thread that released the lock. A chain of callers that close in their own callbacks does not grow one stack.
 *
 * @param <H> what the caller holds
 */
final class AsyncAcquisition<H> {
    private final EngineContext context;
    private final LockName name;
    private final Executor executor;
    private final Function<HoldHandle, H> wrap;
    private final Consumer<H> giveBack;
    private final @Nullable Limit<H> limit;
    private final CompletableFuture<H> future = new CompletableFuture<>();
    private final AtomicBoolean completing = new AtomicBoolean();
    private @Nullable Waiter waiter;

    /**
     * How long a future waits, and what it ends with when others hold the lock then.
     *
     * @param time how long
     * @param none the result of a wait that ends without the lock
     * @param <H> what the caller holds
     */
    record Limit<H>(Duration time, H none) {}

    private AsyncAcquisition(
            EngineContext context,
            LockName name,
            Executor executor,
            Function<HoldHandle, H> wrap,
            Consumer<H> giveBack,
            @Nullable Limit<H> limit) {
        this.context = context;
        this.name = name;
        this.executor = executor;
        this.wrap = wrap;
        this.giveBack = giveBack;
        this.limit = limit;
    }

    static <H> CompletableFuture<H> start(
            EngineContext context,
            LockName name,
            HoldOptions options,
            Executor executor,
            Function<HoldHandle, H> wrap,
            Consumer<H> giveBack,
            @Nullable Limit<H> limit) {
        AsyncAcquisition<H> acquisition = new AsyncAcquisition<>(context, name, executor, wrap, giveBack, limit);
        boolean waits = limit == null || !limit.time().isZero();
        Waiter waiter = Waiter.callback(name.mode(), options, waits, context.time.nanoTime(), acquisition::resolved);
        acquisition.waiter = waiter;
        waiter.timed = limit != null;
        WaitQueue lock = context.locks.submit(name, waiter);
        try {
            if (limit != null && waits && waiter.outcome() == null) {
                Scheduled timeout = Acquisition.expireAfter(context, lock, waiter, limit.time());
                acquisition.future.whenComplete((hold, failure) -> timeout.cancel());
            }
            acquisition.future.whenComplete((hold, failure) -> {
                if (waiter.resolve(Waiter.EMPTY)) {
                    lock.forget(waiter, NotAcquired.Reason.CANCELLED); // or timed out, or completed, by the caller
                    context.telemetry.recordWait(name, waiter, NotAcquired.Reason.CANCELLED);
                }
            });
        } catch (Throwable broken) { // for example, no thread for the time-out
            lock.abandon(waiter);
            throw broken;
        }
        return acquisition.future;
    }

    private void resolved() {
        context.completionThreads.execute(executor, this::complete);
    }

    private void complete() {
        if (!completing.compareAndSet(false, true)) {
            return; // the executor ran it before it threw
        }
        Waiter asked = Objects.requireNonNull(waiter);
        Waiter.Outcome outcome = asked.outcome();
        try {
            complete(asked, outcome);
        } catch (Throwable broken) { // an Error: no caller gets a hold
            future.completeExceptionally(broken);
            if (future.isCompletedExceptionally() && outcome instanceof Waiter.Outcome.Granted granted) {
                granted.anchor().giveBack();
            }
        }
    }

    private void complete(Waiter asked, Waiter.@Nullable Outcome outcome) {
        if (outcome instanceof Waiter.Outcome.Granted granted) {
            context.telemetry.recordWait(name, asked, granted.anchor());
            H hold = wrap.apply(granted.anchor());
            if (!future.complete(hold)) {
                giveBack.accept(hold);
            }
        } else if (outcome instanceof Waiter.Outcome.Failed failed) {
            context.telemetry.recordWait(name, asked, Telemetry.reason(failed.failure()));
            future.completeExceptionally(Failures.here(failed.failure(), "could not acquire '" + name + "'"));
        } else if (limit != null) {
            context.telemetry.recordWait(name, asked, NotAcquired.Reason.TIMED_OUT);
            future.complete(limit.none());
        }
    }
}
