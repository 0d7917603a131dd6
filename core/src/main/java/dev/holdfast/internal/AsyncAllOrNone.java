package dev.holdfast.internal;

import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How a future acquires several names together: one after another in the order that all keep, as {@link AllOrNone} waits
 * for them. Each step begins when the one before has ended, so the list of what is held has one writer at a time.
 *
 * @param <H> what the caller holds
 */
final class AsyncAllOrNone<H> {
    private final Engine engine;
    private final List<LockName> names;
    private final HoldOptions options;
    private final Function<List<HoldAnchor>, H> wrap;
    private final CompletableFuture<H> future = new CompletableFuture<>();
    private final List<HoldAnchor> held = new ArrayList<>();
    private volatile @Nullable CompletableFuture<HoldAnchor> step;

    private AsyncAllOrNone(
            Engine engine, List<LockName> names, HoldOptions options, Function<List<HoldAnchor>, H> wrap) {
        this.engine = engine;
        this.names = names;
        this.options = options;
        this.wrap = wrap;
    }

    static <H> CompletableFuture<H> start(
            Engine engine, List<LockName> names, HoldOptions options, Function<List<HoldAnchor>, H> wrap) {
        AsyncAllOrNone<H> all = new AsyncAllOrNone<>(engine, names, options, wrap);
        all.next();
        all.future.whenComplete((hold, failure) -> all.callOff());
        return all.future;
    }

    private void next() {
        CompletableFuture<HoldAnchor> started = engine.acquireAsync(
                names.get(held.size()), options, Function.identity(), anchor -> anchor.close(Mode.Kind.EXCLUSIVE));
        step = started;
        started.whenComplete(this::stepped);
        if (future.isDone()) {
            callOff(); // it was given up while this step was not to be seen yet
        }
    }

    /** Gives up the place in the queue; what is held goes back when the step has ended of that. */
    private void callOff() {
        CompletableFuture<HoldAnchor> current = step;
        if (current != null) {
            current.cancel(false);
        }
    }

    private void stepped(@Nullable HoldAnchor got, @Nullable Throwable failure) {
        if (failure != null || got == null) {
            none();
            future.completeExceptionally(cause(failure));
            return;
        }
        held.add(got);
        if (future.isDone()) {
            none();
        } else if (held.size() < names.size()) {
            begin();
        } else if (!held.stream().allMatch(HoldAnchor::isValid)) {
            none(); // one has ended while others were waited for: all are to be held at one moment
            begin();
        } else if (!future.complete(wrap.apply(List.copyOf(held)))) {
            none();
        }
    }

    private void begin() {
        try {
            next();
        } catch (Throwable failed) { // the client is closed; or an Error, which must not leave the future incomplete
            none();
            future.completeExceptionally(failed);
        }
    }

    private void none() {
        for (int i = held.size() - 1; i >= 0; i--) {
            try {
                held.get(i).close(Mode.Kind.EXCLUSIVE);
            } catch (HoldLostException ended) {
                // Nobody had it in hand, so nobody lost it.
            }
        }
        held.clear();
    }

    private static Throwable cause(@Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return cause == null ? new IllegalStateException("a step ended with nothing") : cause;
    }
}
