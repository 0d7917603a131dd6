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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store whose requests are counted and timed on their way. It reports which of them prove that the server answers. */
final class CountingStore implements Store {
    private final Store store;
    private final String description;
    private final Counters counters;
    private final TimeSource time;
    private @Nullable Report report;

    /** Hears of every answer and every failure. */
    interface Report {
        /** The store carried out a request about a name. */
        void answered(String name);

        /** A release, downgrade, withdrawal or lost renewal was answered, perhaps without a request: that proves nothing. */
        void answeredWithoutProof(String name);

        /** The store answered a question about a name, which says little of claims. */
        void answeredQuestion(String name);

        /** The store answered a question about all names. */
        void answeredQuestion();

        /** A request about a name that was sent then got no answer. */
        void unanswered(String name, long sent, Throwable failure);

        /** A question about all names that was sent then got no answer. */
        void unanswered(long sent, Throwable failure);
    }

    CountingStore(Store store, String description, Counters counters, TimeSource time) {
        this.store = store;
        this.description = description;
        this.counters = counters;
        this.time = time;
    }

    /** Sets what receives every answer and every failure. Called once, before the first request. */
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
    public String part(String name) {
        return store.part(name);
    }

    @Override
    public void listen(StoreListener listener) {
        store.listen(listener);
    }

    @Override
    public Pending claim(Claim claim) {
        counters.claims.increment();
        Request request = new Request(List.of(claim.name()), false);
        Pending pending = request.counted(() -> store.claim(claim));
        if (pending != null) { // a store that breaks its contract is for the engine to deal with
            // One that waits is not timed: it takes as long as the others hold, which says nothing of the store.
            request.report(pending.answer(), !claim.waits(), (to, grant) -> request.answered(to));
        }
        return pending;
    }

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        Request request = new Request(grants.stream().map(Grant::name).toList(), false);
        CompletionStage<Map<ClaimId, Renewal>> answer = request.counted(() -> store.renew(grants));
        request.report(answer, true, (to, verdicts) -> renewed(to, grants, verdicts));
        return answer;
    }

    /**
     * Reports the parts that answered for some grant. An unknown outcome proves nothing, and a loss may be answered
     * without a request, when the session broke.
     */
    private void renewed(Report to, Collection<Grant> grants, @Nullable Map<ClaimId, Renewal> verdicts) {
        Map<String, String> answered = new LinkedHashMap<>();
        Map<String, String> perhaps = new LinkedHashMap<>();
        for (Grant grant : grants) {
            Renewal said = verdicts == null ? null : verdicts.get(grant.id());
            Renewal.Verdict verdict = said == null ? Renewal.Verdict.LOST : said.verdict();
            if (verdict != Renewal.Verdict.UNKNOWN) {
                Map<String, String> those = verdict == Renewal.Verdict.LOST ? perhaps : answered;
                those.putIfAbsent(store.part(grant.name()), grant.name());
            }
        }
        answered.values().forEach(to::answered);
        perhaps.values().forEach(to::answeredWithoutProof);
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return timed(grant.name(), () -> store.extend(grant));
    }

    @Override
    public CompletionStage<Boolean> downgrade(Grant grant) {
        return timedUnlessFalse(grant.name(), () -> store.downgrade(grant)); // false from a store that cannot downgrade
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return timedUnlessFalse(grant.name(), () -> store.release(grant)); // false for a grant whose session broke
    }

    @Override
    public void beforeSending(String name, Runnable task) {
        store.beforeSending(name, task);
    }

    @Override
    public CompletionStage<Boolean> watch(Grant grant) {
        return timedUnlessFalse(grant.name(), () -> store.watch(grant)); // false also for a grant that is gone
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        Request request = new Request(List.of(claim.name()), false);
        CompletionStage<Void> answer = request.counted(() -> store.withdraw(claim));
        request.report(
                answer, true, (to, nothing) -> to.answeredWithoutProof(claim.name())); // it may not have been sent
        return answer;
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return asked(name, () -> store.status(name));
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return askedOfAll(() -> store.list(prefix));
    }

    @Override
    public CompletionStage<Optional<List<LockWaiter>>> waiters(String prefix) {
        return store.waiters(prefix); // many stores say without asking anybody that they keep none: no proof of life
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return timed(name, () -> store.breakGrant(name, number, now));
    }

    @Override
    public CompletionStage<RecordReading> readRecord(String name) {
        return asked(name, () -> store.readRecord(name));
    }

    @Override
    public CompletionStage<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return timed(write.name(), () -> store.writeRecord(write));
    }

    @Override
    public CompletionStage<List<StoredRecord>> listRecords(String prefix) {
        return askedOfAll(() -> store.listRecords(prefix));
    }

    @Override
    public void close() {
        store.close();
    }

    /** Sends a request whose answer false may come without the server. */
    private CompletionStage<Boolean> timedUnlessFalse(String name, Supplier<CompletionStage<Boolean>> send) {
        Request request = new Request(List.of(name), false);
        CompletionStage<Boolean> answer = request.counted(send);
        request.report(answer, true, (to, done) -> {
            if (Boolean.TRUE.equals(done)) {
                request.answered(to);
            } else {
                to.answeredWithoutProof(name);
            }
        });
        return answer;
    }

    private <T> CompletionStage<T> timed(String name, Supplier<CompletionStage<T>> send) {
        return timed(new Request(List.of(name), false), send);
    }

    private <T> CompletionStage<T> asked(String name, Supplier<CompletionStage<T>> send) {
        return timed(new Request(List.of(name), true), send);
    }

    private <T> CompletionStage<T> askedOfAll(Supplier<CompletionStage<T>> send) {
        return timed(new Request(List.of(), true), send);
    }

    private static <T> CompletionStage<T> timed(Request request, Supplier<CompletionStage<T>> send) {
        CompletionStage<T> answer = request.counted(send);
        request.report(answer, true, (to, value) -> request.answered(to));
        return answer;
    }

    /** A request on its way. */
    private final class Request {
        private final List<String> names;
        private final boolean isQuestion;
        private final long sent;

        /**
         * Counts it.
         *
         * @param names empty if it is about all
         */
        Request(List<String> names, boolean isQuestion) {
            this.names = names;
            this.isQuestion = isQuestion;
            this.sent = sending();
        }

        private long sending() {
            counters.storeCalls.increment();
            return time.nanoTime();
        }

        /** What the store gives back, or throws. */
        <T> T counted(Supplier<T> send) {
            try {
                return send.get();
            } catch (Throwable thrown) {
                failed(thrown);
                throw thrown;
            }
        }

        <T> void report(@Nullable CompletionStage<T> answer, boolean timed, BiConsumer<Report, @Nullable T> onAnswer) {
            if (answer == null) {
                return;
            }
            answer.whenComplete((value, failure) -> {
                if (timed) {
                    counters.storeNanos.add(time.nanoTime() - sent);
                }
                if (failure != null) {
                    failed(failure);
                } else if (report != null) {
                    onAnswer.accept(report, value);
                }
            });
        }

        void answered(Report to) {
            if (names.isEmpty()) {
                to.answeredQuestion();
            }
            names.forEach(isQuestion ? to::answeredQuestion : to::answered);
        }

        private void failed(Throwable failure) {
            counters.failedStoreCalls.increment();
            if (report == null) {
                return;
            }
            if (names.isEmpty()) {
                report.unanswered(sent, failure);
            }
            names.forEach(name -> report.unanswered(name, sent, failure));
        }
    }
}
