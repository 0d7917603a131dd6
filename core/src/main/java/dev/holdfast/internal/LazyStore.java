package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

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
 * <p>{@link StoreOpening} makes the attempts; {@link EarlyClaim} is a claim that waits for one. Once the store is open, each
 * request costs one read more. Thread-safe.
 */
public final class LazyStore implements Store {
    /** Nothing is refused before the store says what it lacks. */
    private static final Capabilities PRESUMED = Capabilities.least()
            .records(true)
            .wanted(true)
            .caveats("The client has not connected to the store yet; what the store can do is known when it has.");

    private final StoreOpening opening;

    private LazyStore(StoreOpening opening) {
        this.opening = opening;
    }

    /**
     * A store to be opened later.
     *
     * @throws IllegalArgumentException if it is known now that the store cannot be opened so
     */
    public static LazyStore of(StoreFactory factory, StoreContext context) {
        return new LazyStore(new StoreOpening(factory, context));
    }

    private <T> CompletionStage<T> with(Function<Store, CompletionStage<T>> request) {
        Store store = opening.opened();
        return store != null ? request.apply(store) : opening.store().thenCompose(request);
    }

    // ---- requests ----

    @Override
    public String description() {
        return opening.description();
    }

    /**
     * The capabilities of the store once it is open; before that, no mode is refused, and nothing else is relied on.
     */
    @Override
    public Capabilities capabilities() {
        Store store = opening.known();
        return store == null ? PRESUMED : store.capabilities();
    }

    /** Before the store is open, its parts are unknown. */
    @Override
    public String part(String name) {
        Store store = opening.known();
        return store == null ? WHOLE : store.part(name);
    }

    @Override
    public void listen(StoreListener to) {
        opening.listener().set(to);
    }

    @Override
    public Pending claim(Claim claim) {
        Store store = opening.opened();
        if (store != null) {
            return store.claim(claim);
        }
        EarlyClaim early = new EarlyClaim(opening, claim);
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
        Store store = opening.known();
        if (store == null) {
            task.run();
        } else {
            store.beforeSending(name, task);
        }
    }

    /** While the store is not open, no claim has reached it, and so none left anything behind. */
    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        CompletableFuture<Store> last = opening.last();
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
        opening.close();
    }
}
