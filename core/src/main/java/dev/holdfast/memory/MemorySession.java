package dev.holdfast.memory;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockStatus;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.TimeSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One client's access to a {@link MemoryStore}. */
final class MemorySession implements Store {
    static final String DESCRIPTION = "mem:";

    private static final Capabilities CAPABILITIES = Capabilities.least()
            .pushes(true)
            .fair(true)
            .ordered(true)
            .extendable(true)
            .records(true)
            .wanted(true)
            .caveats("Locks exist in one process only, and end with it.");

    private final MemoryStore store;
    private final TimeSource time;
    private volatile boolean closed;
    private volatile @Nullable StoreListener listener;

    MemorySession(MemoryStore store, TimeSource time) {
        this.store = store;
        this.time = time;
    }

    TimeSource time() {
        return time;
    }

    @Override
    public String description() {
        return DESCRIPTION;
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver; // this store reports no losses, only waiters
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        if (closed) {
            answer.failed(closedException());
        } else {
            store.claim(claim, this, answer);
            if (closed) {
                store.leave(
                        this, closedException()); // the close came meanwhile, and may have checked before this claim
            }
        }
        return () -> store.cancel(claim);
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return unlessClosed(() -> store.renew(grants, time));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return unlessClosed(() -> store.extend(grant, time));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return unlessClosed(() -> store.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return unlessClosed(() -> store.release(grant.name(), grant.id()));
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return unlessClosed(() -> store.watch(grant, new MemoryLock.Watcher() {
            @Override
            public void wanted() {
                report(engine -> engine.wanted(grant));
            }

            @Override
            public void broken() {
                report(engine -> engine.suspect(grant));
            }
        }));
    }

    private void report(Consumer<StoreListener> what) {
        StoreListener receiver = listener;
        if (receiver != null && !closed) {
            what.accept(receiver);
        }
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return unlessClosed(() -> {
                    store.cancel(claim);
                    return store.release(claim.name(), claim.id());
                })
                .thenAccept(released -> {});
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return unlessClosed(() -> store.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return unlessClosed(() -> store.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return unlessClosed(() -> store.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return unlessClosed(() -> store.records().read(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return unlessClosed(() -> store.records().write(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return unlessClosed(() -> store.records().list(prefix));
    }

    @Override
    public void close() {
        closed = true;
        store.leave(this, closedException());
    }

    private <T> CompletionStage<T> unlessClosed(Supplier<T> answer) {
        return closed
                ? CompletableFuture.failedFuture(closedException())
                : CompletableFuture.completedFuture(answer.get());
    }

    private static ClientClosedException closedException() {
        return new ClientClosedException("the client of mem: is closed; make a new one");
    }
}
