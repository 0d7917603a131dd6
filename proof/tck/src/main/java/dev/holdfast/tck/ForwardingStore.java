package dev.holdfast.tck;

import dev.holdfast.Capabilities;
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
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A store that passes everything on to another, for those that change a little of it. */
class ForwardingStore implements Store {
    final Store inner;

    ForwardingStore(Store inner) {
        this.inner = inner;
    }

    @Override
    public String description() {
        return inner.description();
    }

    @Override
    public Capabilities capabilities() {
        return inner.capabilities();
    }

    @Override
    public String part(String name) {
        return inner.part(name);
    }

    @Override
    public void listen(StoreListener listener) {
        inner.listen(listener);
    }

    @Override
    public Pending claim(Claim claim, Answer answer) {
        return inner.claim(claim, answer);
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return inner.renew(grants);
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return inner.extend(grant);
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return inner.watch(grant);
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return inner.downgrade(grant);
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return inner.release(grant);
    }

    @Override
    public void beforeSending(String name, Runnable task) {
        inner.beforeSending(name, task);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return inner.withdraw(claim);
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return inner.status(name);
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return inner.list(prefix);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return inner.breakGrant(name, number, now);
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return inner.readRecord(name);
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return inner.writeRecord(write);
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return inner.listRecords(prefix);
    }

    @Override
    public void close() {
        inner.close();
    }
}
