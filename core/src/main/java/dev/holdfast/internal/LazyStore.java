package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.support.DaemonThreads;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store that is opened by the first request, so that an application may start while its store is down.
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
 * <p>Opening blocks, so each attempt has a thread of its own for as long as it lasts. Once the store is open, each request
 * costs one read more. Thread-safe.
 */
public final class LazyStore implements Store {
    /** Nothing is refused before the store says what it lacks. */
    private static final Capabilities PRESUMED = Capabilities.least()
            .records(true)
            .wanted(true)
            .caveats("The client has not connected to the store yet; what the store can do is known when it has.");

    private final StoreFactory factory;
    private final StoreContext context;
    private final String description;
    /** Null: not open. Incomplete: being opened. Complete: open, or closed where it has failed. */
    private final AtomicReference<@Nullable CompletableFuture<Store>> attempt = new AtomicReference<>();

    private volatile @Nullable Store opened;
    private final LateListener listener = new LateListener();
    /** When the next attempt may begin, by {@code nanoTime}. */
    private volatile long earliest;

    private final AtomicInteger failures = new AtomicInteger();

    private LazyStore(StoreFactory factory, StoreContext context, String description) {
        this.factory = factory;
        this.context = context;
        this.description = description;
        this.earliest = context.time().nanoTime();
    }

    /**
     * A store to be opened later.
     *
     * @throws IllegalArgumentException if it is known now that the store cannot be opened so
     */
    public static LazyStore of(StoreFactory factory, StoreContext context) {
        return new LazyStore(factory, context, factory.describe(context));
    }

    // ---- opening ----

    /** The store, open; fails as the attempt to open it does. */
    private CompletableFuture<Store> store() {
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
            if (store != null) {
                store.close();
            }
            failed(mine, e);
            return;
        }
        if (mine.complete(store)) { // sends what has waited, which is answered before this returns
            opened = store;
            listener.reachable();
        } else {
            store.close(); // the client was closed in the meantime
        }
    }

    /** The store as soon as it is open: claims that have waited for it are answered before {@link #open} has returned. */
    private @Nullable Store known() {
        Store store = opened;
        CompletableFuture<Store> last = store == null ? attempt.get() : null;
        return last != null && last.isDone() && !last.isCompletedExceptionally() ? last.join() : store;
    }

    private void failed(CompletableFuture<Store> mine, Throwable why) {
        earliest = context.time().nanoTime()
                + Pauses.beforeRetry(failures.getAndIncrement()); // what waits asks again at once
        attempt.compareAndSet(mine, null); // first: what the failure wakes may ask for the next attempt
        mine.completeExceptionally(why);
    }

    private <T> CompletionStage<T> with(Function<Store, CompletionStage<T>> request) {
        Store store = opened;
        return store != null ? request.apply(store) : store().thenCompose(request);
    }

    // ---- requests ----

    @Override
    public String description() {
        return description;
    }

    /** Those of the store once it is open; before that, no mode is refused, and nothing else is relied on. */
    @Override
    public Capabilities capabilities() {
        Store store = known();
        return store == null ? PRESUMED : store.capabilities();
    }

    /** Before the store is open, nobody knows its parts. */
    @Override
    public String part(String name) {
        Store store = known();
        return store == null ? WHOLE : store.part(name);
    }

    @Override
    public void listen(StoreListener to) {
        listener.set(to);
    }

    @Override
    public Pending claim(Claim claim) {
        Store store = opened;
        if (store != null) {
            return store.claim(claim);
        }
        EarlyClaim early = new EarlyClaim(claim);
        early.ask();
        return early;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return with(store -> store.renew(grants));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return with(store -> store.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return with(store -> store.watch(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return with(store -> store.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return with(store -> store.release(grant));
    }

    @Override
    public void beforeSending(String name, Runnable task) {
        Store store = known();
        if (store == null) {
            task.run();
        } else {
            store.beforeSending(name, task);
        }
    }

    /** While the store is not open, no claim has reached it, and so none left anything behind. */
    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        CompletableFuture<Store> last = attempt.get();
        return last == null || !last.isDone()
                ? CompletableFuture.completedFuture(null)
                : last.thenCompose(store -> store.withdraw(claim));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return with(store -> store.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return with(store -> store.list(prefix));
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return with(store -> store.waiters(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return with(store -> store.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return with(store -> store.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return with(store -> store.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return with(store -> store.listRecords(prefix));
    }

    /** An attempt under way ends by itself, and what it opens is closed. */
    @Override
    public void close() {
        ClientClosedException why =
                new ClientClosedException("the client of " + description + " is closed; connect again");
        CompletableFuture<Store> last = attempt.getAndSet(CompletableFuture.failedFuture(why));
        if (last != null && !last.completeExceptionally(why) && !last.isCompletedExceptionally()) {
            last.join().close();
        }
    }

    /**
     * A claim made before the store was open. One that waits outlasts attempts that fail, as it would outlast a restart of
     * the store. One that is cancelled is still sent if the attempt under way succeeds: the store's answer, and no guess,
     * decides what the caller hears.
     */
    private final class EarlyClaim implements Pending {
        private final Claim claim;
        private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
        private volatile boolean cancelled;
        private volatile @Nullable Pending sent;

        EarlyClaim(Claim claim) {
            this.claim = claim;
        }

        void ask() {
            store().whenComplete((store, failure) -> {
                if (failure == null) {
                    send(store);
                } else if (claim.waits() && !cancelled && failure instanceof StoreUnavailableException) {
                    listener.unreachable(claim.name(), failure);
                    ask();
                } else {
                    answer.completeExceptionally(failure);
                }
            });
        }

        private void send(Store store) {
            try {
                if (!store.capabilities().modes().contains(claim.mode().kind())) {
                    throw new UnsupportedByStoreException(description + " has no locks of mode "
                            + claim.mode().kind() + ", so none for '" + claim.name() + "': use another store");
                }
                Pending pending = store.claim(claim);
                sent = pending;
                pending.answer().whenComplete((grant, failure) -> {
                    if (failure == null) {
                        answer.complete(grant);
                    } else {
                        answer.completeExceptionally(failure);
                    }
                });
                if (cancelled) {
                    pending.cancel();
                }
            } catch (RuntimeException | Error e) {
                answer.completeExceptionally(e);
            }
        }

        @Override
        public CompletionStage<Optional<Grant>> answer() {
            return answer;
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
