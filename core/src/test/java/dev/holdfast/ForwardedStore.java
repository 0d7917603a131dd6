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

/** A real store whose every question, the cancel of a claim included, goes through one method, which a test may replace. */
abstract class ForwardedStore implements Store {
    final Store real;

    ForwardedStore(Store real) {
        this.real = real;
    }

    <T> CompletionStage<T> ask(Supplier<CompletionStage<T>> request) {
        return request.get();
    }

    @Override
    public String description() {
        return real.description();
    }

    @Override
    public Capabilities capabilities() {
        return real.capabilities();
    }

    @Override
    public String part(String name) {
        return real.part(name);
    }

    @Override
    public void listen(StoreListener listener) {
        real.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        Pending pending = real.claim(claim, answer);
        return () -> ask(() -> {
                    pending.cancel();
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
        return ask(() -> real.renew(grants));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return ask(() -> real.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return ask(() -> real.watch(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return ask(() -> real.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return ask(() -> real.release(grant));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return ask(() -> real.withdraw(claim));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return ask(() -> real.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return ask(() -> real.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return ask(() -> real.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return ask(() -> real.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return ask(() -> real.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return ask(() -> real.listRecords(prefix));
    }

    @Override
    public void close() {
        real.close();
    }
}
