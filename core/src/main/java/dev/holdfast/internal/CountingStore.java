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
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.spi.TimeSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store whose requests are counted and timed on their way; it changes nothing about them. */
final class CountingStore implements Store {
    private final Store store;
    private final String description;
    private final Counters counters;
    private final TimeSource time;
    private @Nullable Report report;

    /** Hears of every answer and every failure. */
    interface Report {
        /** The store carried out a request. */
        void answered();

        /** The store answered a question, which says little of claims. */
        void answeredQuestion();

        /** A request that was sent then got no answer. */
        void unanswered(long sent, Throwable failure);
    }

    CountingStore(Store store, String description, Counters counters, TimeSource time) {
        this.store = store;
        this.description = description;
        this.counters = counters;
        this.time = time;
    }

    /** Names what is told of every answer and every failure. Called once, before the first request. */
    void report(Report to) {
        report = to;
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
        Pending pending = counted(() -> store.claim(claim), sent);
        if (pending != null) { // a store that breaks its contract is for the engine to deal with
            answered(pending.answer(), sent, !claim.waits(), false);
        }
        return pending;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        long sent = sending();
        CompletionStage<Map<ClaimId, Renewal>> answer = counted(() -> store.renew(grants), sent);
        answered(answer, sent, true, false, CountingStore::saysSomething);
        return answer;
    }

    /** Whether the store answered at all: of a batch whose every outcome is unknown it may not even have heard. */
    private static boolean saysSomething(@Nullable Map<ClaimId, Renewal> verdicts) {
        return verdicts == null
                || verdicts.isEmpty()
                || verdicts.values().stream().anyMatch(each -> each.verdict() != Renewal.Verdict.UNKNOWN);
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return timed(() -> store.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        long sent = sending();
        CompletionStage<Boolean> answer = counted(() -> store.downgrade(grant), sent);
        // a store that cannot downgrade answers false without a request: that does not show that the server answers
        answered(answer, sent, true, false, Boolean.TRUE::equals);
        return answer;
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
    public CompletionStage<Boolean> watch(Grant grant) {
        return timed(() -> store.watch(grant));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        return timed(() -> store.withdraw(claim));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return asked(() -> store.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return asked(() -> store.list(prefix));
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return store.waiters(prefix); // many stores say without asking anybody that they keep none: no proof of life
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return timed(() -> store.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return asked(() -> store.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return timed(() -> store.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return asked(() -> store.listRecords(prefix));
    }

    @Override
    public void close() {
        store.close();
    }

    private <T> CompletionStage<T> timed(Supplier<CompletionStage<T>> request) {
        return timed(request, false);
    }

    private <T> CompletionStage<T> asked(Supplier<CompletionStage<T>> question) {
        return timed(question, true);
    }

    private <T> CompletionStage<T> timed(Supplier<CompletionStage<T>> request, boolean isQuestion) {
        long sent = sending();
        CompletionStage<T> answer = counted(request, sent);
        answered(answer, sent, true, isQuestion);
        return answer;
    }

    private long sending() {
        counters.storeCalls.increment();
        return time.nanoTime();
    }

    /** What the store gives back, or throws. */
    private <T> T counted(Supplier<T> request, long sent) {
        try {
            return request.get();
        } catch (Throwable thrown) {
            failed(sent, thrown);
            throw thrown;
        }
    }

    /** A claim that waits is not timed: it takes as long as the others hold, which says nothing of the store. */
    private void answered(@Nullable CompletionStage<?> answer, long sent, boolean timed, boolean isQuestion) {
        answered(answer, sent, timed, isQuestion, value -> true);
    }

    private <T> void answered(
            @Nullable CompletionStage<T> answer,
            long sent,
            boolean timed,
            boolean isQuestion,
            Predicate<@Nullable T> isAnswer) {
        if (answer == null) {
            return;
        }
        answer.whenComplete((value, failure) -> {
            if (timed) {
                counters.storeNanos.add(time.nanoTime() - sent);
            }
            if (failure != null) {
                failed(sent, failure);
            } else if (!isAnswer.test(value)) {
                return;
            } else if (report != null && isQuestion) {
                report.answeredQuestion();
            } else if (report != null) {
                report.answered();
            }
        });
    }

    private void failed(long sent, Throwable failure) {
        counters.failedStoreCalls.increment();
        if (report != null) {
            report.unanswered(sent, failure);
        }
    }
}
