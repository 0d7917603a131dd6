package dev.holdfast;

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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A real store whose every question, the cancel of a claim included, goes through one method. */
abstract class ForwardedStore implements Store {
    private final Store store;

    ForwardedStore(Store store) {
        this.store = store;
    }

    abstract <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request);

    @Override
    public String description() {
        return store.description();
    }

    @Override
    public Capabilities capabilities() {
        return store.capabilities();
    }

    @Override
    public String part(String name) {
        return store.part(name);
    }

    @Override
    public void listen(StoreListener listener) {
        store.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        Pending real = store.claim(claim, answer);
        return () -> ask(() -> {
                    real.cancel();
                    return CompletableFuture.completedFuture(true);
                })
                .whenComplete((done, failure) -> {
                    if (failure != null) {
                        answer.failed(failure);
                    }
                });
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return ask(() -> store.renew(grants));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return ask(() -> store.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return ask(() -> store.watch(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return ask(() -> store.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return ask(() -> store.release(grant));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return ask(() -> store.withdraw(claim));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return ask(() -> store.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return ask(() -> store.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return ask(() -> store.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return ask(() -> store.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return ask(() -> store.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return ask(() -> store.listRecords(prefix));
    }

    @Override
    public void close() {
        store.close();
    }
}
