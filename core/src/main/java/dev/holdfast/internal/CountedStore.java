package dev.holdfast.internal;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Capabilities;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store whose requests are counted and timed on their way; it changes nothing about them. */
final class CountedStore implements Store {
    /** A claim that waits takes as long as the others hold: that says nothing of the store. */
    private static final long NOT_TIMED = Long.MIN_VALUE;

    private final Store store;
    private final String description;
    private final Counters counters;
    private final TimeSource time;

    CountedStore(Store store, String description, Counters counters, TimeSource time) {
        this.store = store;
        this.description = description;
        this.counters = counters;
        this.time = time;
    }

    @Override
    public String description() {
        return description; // asked once, as messages are made where a store that throws would do harm
    }

    @Override
    public Capabilities capabilities() {
        return store.capabilities();
    }

    @Override
    public void listen(StoreListener listener) {
        store.listen(listener);
    }

    @Override
    public Pending claim(Claim claim) {
        counters.claims.increment();
        long sent = sending();
        Pending pending = counted(() -> store.claim(claim));
        if (pending != null) { // a store that breaks its contract is for the engine to deal with
            answered(pending.answer(), claim.waits() ? NOT_TIMED : sent);
        }
        return pending;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return timed(() -> store.renew(grants));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return timed(() -> store.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return timed(() -> store.downgrade(grant));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return timed(() -> store.release(grant));
    }

    @Override
    public void beforeSending(String name, Runnable task) {
        store.beforeSending(name, task);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return timed(() -> store.withdraw(claim));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return timed(() -> store.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return timed(() -> store.list(prefix));
    }

    @Override
    public CompletionStage<Boolean> revoke(String name, boolean now) {
        return timed(() -> store.revoke(name, now));
    }

    @Override
    public void close() {
        store.close();
    }

    private <T> CompletionStage<T> timed(Supplier<CompletionStage<T>> request) {
        long sent = sending();
        CompletionStage<T> answer = counted(request);
        answered(answer, sent);
        return answer;
    }

    private long sending() {
        counters.storeCalls.increment();
        return time.nanoTime();
    }

    /** What the store gives back, or throws. */
    private <T> T counted(Supplier<T> request) {
        boolean returned = false;
        try {
            T given = request.get();
            returned = true;
            return given;
        } finally {
            if (!returned) {
                counters.failedStoreCalls.increment();
            }
        }
    }

    private void answered(@Nullable CompletionStage<?> answer, long sent) {
        if (answer == null) {
            return;
        }
        answer.whenComplete((value, failure) -> {
            if (sent != NOT_TIMED) {
                counters.storeNanos.add(time.nanoTime() - sent);
            }
            if (failure != null) {
                counters.failedStoreCalls.increment();
            }
        });
    }
}
