package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The attempts to open one store, of which at most one is under way. Opening blocks, so each attempt has a thread of its own
 * for as long as it lasts. Between attempts that fail there is a pause, which grows. Thread-safe.
 */
final class StoreOpening {
    private final StoreFactory factory;
    private final StoreContext context;
    private final String description;
    private final LateListener listener = new LateListener();
    /** Null: not open. Incomplete: being opened. Complete: open, or closed where it has failed. */
    private final AtomicReference<@Nullable CompletableFuture<Store>> attempt = new AtomicReference<>();

    private volatile @Nullable Store opened;
    /** When the next attempt may begin, by {@code nanoTime}. */
    private volatile long earliest;

    private final AtomicInteger failures = new AtomicInteger();

    /** @throws IllegalArgumentException if it is known now that the store cannot be opened so */
    StoreOpening(StoreFactory factory, StoreContext context) {
        this.factory = factory;
        this.context = context;
        this.description = factory.describe(context);
        this.earliest = context.time().nanoTime();
    }

    String description() {
        return description;
    }

    /** The listener of the store. */
    LateListener listener() {
        return listener;
    }

    /** The store if it is open, and nothing waits for it; otherwise null. */
    @Nullable
    Store opened() {
        return opened;
    }

    /** The store as soon as it is open: claims that have waited for it are answered before {@link #open} has returned. */
    @Nullable
    Store known() {
        Store store = opened;
        CompletableFuture<Store> last = store == null ? attempt.get() : null;
        return last != null && last.isDone() && !last.isCompletedExceptionally() ? last.join() : store;
    }

    /** The last attempt, if there is one. */
    @Nullable
    CompletableFuture<Store> last() {
        return attempt.get();
    }

    /** The store, open; fails as the attempt to open it does. */
    CompletableFuture<Store> store() {
        CompletableFuture<Store> mine = new CompletableFuture<>();
        CompletableFuture<Store> underWay = attempt.compareAndExchange(null, mine);
        if (underWay != null) {
            return underWay;
        }
        try {
            long pause = earliest - context.time().nanoTime();
            if (pause > 0) {
                context.time().schedule(() -> openOnThread(mine), Duration.ofNanos(pause));
            } else {
                openOnThread(mine);
            }
        } catch (RuntimeException | Error e) {
            failed(mine, e);
        }
        return mine;
    }

    private void openOnThread(CompletableFuture<Store> mine) {
        try {
            DaemonThreads.daemon("holdfast-connect-" + description, () -> open(mine))
                    .start();
        } catch (RuntimeException | Error e) { // no thread can be started
            failed(mine, e);
        }
    }

    private void open(CompletableFuture<Store> mine) {
        if (mine.isDone()) {
            return; // closed during the pause
        }
        Store store = null;
        try {
            store = Objects.requireNonNull(factory.open(context), "the factory opened null");
            store.listen(listener);
        } catch (Throwable e) {
            try {
                if (store != null) {
                    store.close();
                }
            } finally {
                failed(mine, e);
            }
            return;
        }
        if (mine.complete(store)) { // sends what has waited, which is answered before this returns
            opened = store;
            listener.reachable();
        } else {
            store.close(); // the client was closed in the meantime
        }
    }

    private void failed(CompletableFuture<Store> mine, Throwable why) {
        earliest = context.time().nanoTime()
                + Pauses.beforeRetry(failures.getAndIncrement()); // waiting claims ask again at once
        attempt.compareAndSet(mine, null); // first: what the failure wakes may ask for the next attempt
        mine.completeExceptionally(why);
    }

    /** Closes the store. An attempt under way ends by itself, and closes what it opens. */
    void close() {
        ClientClosedException why =
                new ClientClosedException("the client of " + description + " is closed; connect again");
        CompletableFuture<Store> last = attempt.getAndSet(CompletableFuture.failedFuture(why));
        if (last != null && !last.completeExceptionally(why) && !last.isCompletedExceptionally()) {
            last.join().close();
        }
    }
}
