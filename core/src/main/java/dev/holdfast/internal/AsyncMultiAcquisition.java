package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.internal.AsyncAcquisition.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How a future acquires several names together: one after another in the order that all keep, as {@link MultiAcquisition} waits
 * for them. Each step begins when the one before has ended, so the list of what is held has one writer at a time.
 *
 * @param <H> what the caller holds
 */
final class AsyncMultiAcquisition<H> {
    private final EngineContext context;
    private final List<LockName> names;
    private final HoldOptions options;
    private final Function<List<HoldHandle>, H> wrap;
    private final @Nullable Limit<H> limit;
    private final long began;
    private final CompletableFuture<H> future = new CompletableFuture<>();
    private final List<HoldHandle> held = new ArrayList<>();
    private final SerialRunner steps = new SerialRunner();
    private volatile @Nullable CompletableFuture<Optional<HoldHandle>> step;

    private AsyncMultiAcquisition(
            EngineContext context,
            List<LockName> names,
            HoldOptions options,
            Function<List<HoldHandle>, H> wrap,
            @Nullable Limit<H> limit) {
        this.context = context;
        this.names = names;
        this.options = options;
        this.wrap = wrap;
        this.limit = limit;
        this.began = context.time().nanoTime();
    }

    static <H> CompletableFuture<H> start(
            EngineContext context,
            List<LockName> names,
            HoldOptions options,
            Function<List<HoldHandle>, H> wrap,
            @Nullable Limit<H> limit) {
        AsyncMultiAcquisition<H> all = new AsyncMultiAcquisition<>(context, names, options, wrap, limit);
        all.next();
        all.future.whenComplete((hold, failure) -> all.callOff());
        return all.future;
    }

    private void next() {
        CompletableFuture<Optional<HoldHandle>> started = acquire(names.get(held.size()));
        step = started;
        started.whenComplete((got, failure) -> steps.run(() -> stepped(got, failure)));
        if (future.isDone()) {
            callOff(); // it was cancelled before this step was visible
        }
    }

    private CompletableFuture<Optional<HoldHandle>> acquire(LockName name) {
        return AsyncAcquisition.start(
                context,
                name,
                options,
                context.completing(),
                Optional::of,
                got -> got.ifPresent(HoldHandle::giveBack),
                limit == null ? null : left(limit));
    }

    private Limit<Optional<HoldHandle>> left(Limit<H> ofAll) {
        long left = Durations.nanos(ofAll.time()) - (context.time().nanoTime() - began);
        return new Limit<>(Duration.ofNanos(Math.max(0, left)), Optional.empty());
    }

    /** Leaves the queue; the acquired locks are released when the step has ended because of that. */
    private void callOff() {
        CompletableFuture<Optional<HoldHandle>> current = step;
        if (current != null) {
            current.cancel(false);
        }
    }

    private void stepped(@Nullable Optional<HoldHandle> got, @Nullable Throwable failure) {
        if (failure != null || got == null) {
            fail(cause(failure));
            return;
        }
        try {
            if (got.isEmpty()) {
                none();
                future.complete(Objects.requireNonNull(limit).none());
                return;
            }
            held.add(got.get());
            goOn();
        } catch (Throwable failed) { // the client is closed; or an Error, which must not leave the future incomplete
            fail(failed);
        }
    }

    private void fail(Throwable failure) {
        try {
            none();
        } finally {
            future.completeExceptionally(failure);
        }
    }

    private void goOn() {
        if (future.isDone()) {
            none();
        } else if (held.size() < names.size()) {
            next();
        } else if (!held.stream().allMatch(HoldHandle::isValid)) {
            none(); // one has ended during the wait for others: all must be held at one moment
            next();
        } else if (!future.complete(wrap.apply(List.copyOf(held)))) {
            none();
        }
    }

    /** Releases what is held, which the caller never received. */
    private void none() {
        Effects returns = new Effects();
        for (int i = held.size() - 1; i >= 0; i--) {
            returns.add(held.get(i)::giveBack);
        }
        held.clear();
        returns.run();
    }

    private static Throwable cause(@Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return cause == null ? new IllegalStateException("a step ended with nothing") : cause;
    }
}
