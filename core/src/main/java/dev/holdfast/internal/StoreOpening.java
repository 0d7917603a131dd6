package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that is open, or is opened by the first request, so that an application may start while its store is down.
 *
 * <pre>
 *   request ──► open? ── yes ──────────────────────────────────► the store
 *                 │ no                                               ▲
 *                 └──► the attempt under way, or a new one ─ opened ─┘
 *                                        ▲      │ failed
 *                                        │      ├──► the request fails as the attempt did
 *                                        └──────┴─── a claim that waits asks for the next attempt
 * </pre>
 *
 * <p>At most one attempt is under way. Opening blocks, so each attempt has a thread of its own for as long as it lasts. Between
 * attempts that fail there is a pause, which grows. Once the store is open, each request costs one read more. Thread-safe.
 */
public final class StoreOpening {
    /** What is said of a store before it is open: nothing is refused before the store says what it lacks. */
    static final Capabilities PRESUMED = Capabilities.least()
            .records(true)
            .wanted(true)
            .caveats("The client has not connected to the store yet; what the store can do is known when it has.");

    /** Asked once: messages are made where a store that throws would do harm. */
    private final String description;

    private final Supplier<Store> factory;
    private final TimeSource time;
    private final LateListener listener = new LateListener();
    /** Null: not open. Incomplete: being opened. Complete: open, or closed where it has failed. */
    private final AtomicReference<@Nullable CompletableFuture<Store>> attempt = new AtomicReference<>();

    /** Null until it is open. */
    volatile @Nullable Store opened;
    /** When the next attempt may begin, by {@code nanoTime}. */
    private volatile long earliest;

    private final AtomicInteger failures = new AtomicInteger();

    private StoreOpening(String description, Supplier<Store> factory, TimeSource time) {
        this.description = description;
        this.factory = factory;
        this.time = time;
        this.earliest = time.nanoTime();
    }

    /**
     * A store to be opened later.
     *
     * @throws IllegalArgumentException if it is known now that the store cannot be opened so
     */
    public static StoreOpening later(StoreFactory factory, StoreContext context) {
        return new StoreOpening(factory.describe(context), () -> factory.open(context), context.time());
    }

    /** A store that is open. */
    public static StoreOpening of(Store store, TimeSource time) {
        try {
            StoreOpening open = new StoreOpening(store.description(), () -> store, time);
            open.attempt.set(CompletableFuture.completedFuture(store));
            open.opened = store;
            return open;
        } catch (RuntimeException | Error broken) {
            store.close();
            throw broken;
        }
    }

    /** Names the listener; called once, before the first request. */
    void listen(StoreListener to) {
        Store store = opened;
        if (store == null) {
            listener.set(to);
        } else {
            store.listen(to);
        }
    }

    // ---- requests ----

    /** Sends a request, once the store is open. */
    <T> CompletionStage<T> with(Function<Store, CompletionStage<T>> request) {
        Store store = opened;
        return store != null ? request.apply(store) : store().thenCompose(request);
    }

    /** Sends a claim once the store is open, which it was not a moment ago. */
    Pending claim(Claim claim, Answer answer) {
        EarlyClaim early = new EarlyClaim(claim, answer);
        early.ask();
        return early;
    }

    /** While the store is not open, no claim has reached it, and so none left anything behind. */
    CompletionStage<Void> withdraw(Claim claim) {
        Store store = opened;
        if (store != null) {
            return store.withdraw(claim);
        }
        CompletableFuture<Store> last = attempt.get();
        return last == null || !last.isDone()
                ? CompletableFuture.completedFuture(null)
                : last.thenCompose(late -> late.withdraw(claim));
    }

    // ---- attempts ----

    String description() {
        return description;
    }

    /** The store as soon as it is open: claims that have waited for it are answered before {@link #open} has returned. */
    @Nullable
    Store known() {
        Store store = opened;
        CompletableFuture<Store> last = store == null ? attempt.get() : null;
        return last != null && last.isDone() && !last.isCompletedExceptionally() ? last.join() : store;
    }

    /** The store, open; fails as the attempt to open it does. */
    CompletableFuture<Store> store() {
        CompletableFuture<Store> mine = new CompletableFuture<>();
        CompletableFuture<Store> underWay = attempt.compareAndExchange(null, mine);
        if (underWay != null) {
            return underWay;
        }
        try {
            long pause = earliest - time.nanoTime();
            if (pause > 0) {
                time.schedule(() -> openOnThread(mine), Duration.ofNanos(pause));
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
            store = Objects.requireNonNull(factory.get(), "the factory opened null");
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
        earliest = time.nanoTime() + Pauses.beforeRetry(failures.getAndIncrement()); // waiting claims ask again at once
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

    /**
     * A claim made before the store was open. A claim that waits outlasts failed attempts to open the store, as it would outlast
     * a restart of the store. A cancelled claim is still sent if the attempt under way succeeds: the store's answer, and no guess,
     * decides what the caller receives. Thread-safe.
     */
    private final class EarlyClaim implements Pending {
        private final Claim claim;
        private final Answer answer;
        private volatile boolean cancelled;
        private volatile @Nullable Pending sent;

        EarlyClaim(Claim claim, Answer answer) {
            this.claim = claim;
            this.answer = answer;
        }

        /** Waits for the store, and sends the claim to it. */
        void ask() {
            store().whenComplete((store, failure) -> {
                if (failure == null) {
                    send(store);
                } else if (claim.waits() && !cancelled && failure instanceof StoreUnavailableException) {
                    try {
                        listener.unreachable(claim.name(), failure);
                    } finally {
                        ask();
                    }
                } else {
                    answer.failed(failure);
                }
            });
        }

        private void send(Store store) {
            try {
                if (!store.capabilities().modes().contains(claim.mode().kind())) {
                    throw new UnsupportedByStoreException(description + " has no locks of mode "
                            + claim.mode().kind() + ", so none for '" + claim.name() + "': use another store");
                }
                Pending pending = Objects.requireNonNull(store.claim(claim, answer), "the store answered null");
                sent = pending;
                if (cancelled) {
                    pending.cancel();
                }
            } catch (RuntimeException | Error e) {
                answer.failed(e);
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
            Pending pending = sent;
            if (pending != null) {
                pending.cancel();
            }
        }
    }
}
