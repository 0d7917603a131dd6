package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.LockStatus;
import dev.holdfast.LockWaiter;
import dev.holdfast.Loss;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The one door between the engine and its store. Each request is counted and timed, waits until the store is open, and ends
 * with an answer or a failure, whatever the store does: one that throws, or answers null, has failed. {@link Reachability}
 * hears of each answer, and what it proves, after the engine: always of a claim, and of other requests unless the store
 * answered within the call. What a store reports by itself is passed on to the grants that it concerns. Thread-safe.
 */
final class StoreLink implements StoreListener {
    private static final String NULL = "the store answered null";

    private final Engine engine;
    private final StoreOpening opening;

    /** @param engine hears of every answer, every failure, and every notice */
    StoreLink(Engine engine, StoreOpening opening) {
        this.engine = engine;
        this.opening = opening;
    }

    /** The store, for messages. */
    String description() {
        return opening.description();
    }

    /** See {@link Store#capabilities}; before the store is open no mode is refused, and nothing else is relied on. */
    Capabilities capabilities() {
        Store store = opening.known();
        return store == null ? StoreOpening.PRESUMED : store.capabilities();
    }

    /** See {@link Store#part}; before the store is open its parts are unknown. */
    String part(String name) {
        Store store = opening.known();
        return store == null ? Store.WHOLE : store.part(name);
    }

    /**
     * Runs a task that must not be dropped when the store sends next: at once if the store cannot report when that is. It
     * may run more than once, as where it has thrown.
     */
    void beforeSending(LockName name, Runnable task) {
        try {
            Runnable surely = () -> Effects.surely(task);
            Store store = opening.known();
            if (store == null) {
                surely.run();
            } else {
                store.beforeSending(name.inStore(), surely);
            }
        } catch (RuntimeException | Error broken) {
            task.run();
        }
    }

    void close() {
        opening.close();
    }

    // ---- claims and grants ----

    /** Sends a claim, which says {@link #ended} once it has its answer. */
    Pending claim(ClaimInFlight of) {
        engine.telemetry.claims.increment();
        engine.telemetry.storeCalls.increment();
        try {
            Store store = opening.opened;
            Pending sent = store == null ? opening.claim(of.claim, of.answer) : store.claim(of.claim, of.answer);
            return Objects.requireNonNull(sent, NULL);
        } catch (Throwable broken) { // an Error, too, must not leave a lock half-way between two states
            of.answer.failed(broken);
            return Pending.BRIEFLY;
        }
    }

    /** A claim has its answer, and the lock has heard it. */
    void ended(Claim claim, long sent, @Nullable Throwable failure) {
        if (!claim.waits()) { // one that waits takes as long as others hold: that says nothing of the store
            engine.telemetry.storeNanos.add(engine.time.nanoTime() - sent);
        }
        Reachability heard = engine.reachability;
        if (failure == null) {
            heard.answered(claim.name());
        } else {
            engine.telemetry.failedStoreCalls.increment();
            heard.unanswered(claim.name(), sent, failure);
        }
    }

    CompletableFuture<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return send(
                grants.stream().map(Grant::name).toList(),
                (proof, verdicts) -> renewed(proof, grants, verdicts),
                () -> opening.with(store -> store.renew(grants)));
    }

    /**
     * Reports the parts that answered for some grant. An unknown outcome proves nothing, and a loss may be answered
     * without a request, when the session broke.
     */
    private void renewed(Reachability proof, Collection<Grant> grants, Map<ClaimId, Renewal> verdicts) {
        Map<String, String> answered = new LinkedHashMap<>();
        Map<String, String> perhaps = new LinkedHashMap<>();
        for (Grant grant : grants) {
            Renewal said = verdicts.get(grant.id());
            Renewal.Verdict verdict = said == null ? Renewal.Verdict.LOST : said.verdict();
            if (verdict != Renewal.Verdict.UNKNOWN) {
                Map<String, String> those = verdict == Renewal.Verdict.LOST ? perhaps : answered;
                those.putIfAbsent(part(grant.name()), grant.name());
            }
        }
        answered.values().forEach(proof::answered);
        perhaps.values().forEach(proof::answeredWithoutProof);
    }

    CompletableFuture<Optional<Grant>> extend(Grant grant) {
        return carriedOut(grant.name(), store -> store.extend(grant));
    }

    CompletableFuture<Boolean> downgrade(Grant grant) {
        return perhaps(grant.name(), store -> store.downgrade(grant)); // false from a store that cannot downgrade
    }

    CompletableFuture<Boolean> release(Grant grant) {
        return perhaps(grant.name(), store -> store.release(grant)); // false for a grant whose session broke
    }

    CompletableFuture<Boolean> watch(Grant grant) {
        return perhaps(grant.name(), store -> store.watch(grant)); // false also for a grant that is gone
    }

    /** Answers true. While the store is not open, no claim has reached it, and so none left anything behind. */
    CompletableFuture<Boolean> withdraw(Claim claim) {
        return send(
                List.of(claim.name()),
                (proof, done) -> proof.answeredWithoutProof(claim.name()),
                () -> opening.withdraw(claim).thenApply(nothing -> true));
    }

    CompletableFuture<Boolean> breakGrant(String name, long number, boolean now) {
        return carriedOut(name, store -> store.breakGrant(name, number, now));
    }

    // ---- questions, and records ----

    CompletableFuture<LockStatus> status(String name) {
        return question(name, store -> store.status(name));
    }

    CompletableFuture<List<LockStatus>> list(String prefix) {
        return questionOfAll(store -> store.list(prefix));
    }

    /** Many stores say without asking anybody that they keep none: neither counted nor a proof of life. */
    CompletableFuture<Optional<List<LockWaiter>>> waiters(String prefix) {
        return opening.with(store -> store.waiters(prefix))
                .thenApply(all -> Objects.requireNonNull(all, NULL))
                .toCompletableFuture();
    }

    CompletableFuture<RecordReading> readRecord(String name) {
        return question(name, store -> store.readRecord(name));
    }

    CompletableFuture<Optional<StoredRecord>> writeRecord(RecordWrite write) {
        return carriedOut(write.name(), store -> store.writeRecord(write));
    }

    CompletableFuture<List<StoredRecord>> listRecords(String prefix) {
        return questionOfAll(store -> store.listRecords(prefix));
    }

    // ---- what an answer proves ----

    /** The store carried out a request about a name. */
    private <T> CompletableFuture<T> carriedOut(String name, Function<Store, CompletionStage<T>> request) {
        return send(List.of(name), (proof, value) -> proof.answered(name), () -> opening.with(request));
    }

    /** The answer false may come without the server. */
    private CompletableFuture<Boolean> perhaps(String name, Function<Store, CompletionStage<Boolean>> request) {
        BiConsumer<Reachability, Boolean> proves = (proof, done) -> {
            if (done) {
                proof.answered(name);
            } else {
                proof.answeredWithoutProof(name);
            }
        };
        return send(List.of(name), proves, () -> opening.with(request));
    }

    /** The store answers a question about a name, which says little of claims. */
    private <T> CompletableFuture<T> question(String name, Function<Store, CompletionStage<T>> request) {
        return send(List.of(name), (proof, value) -> proof.answeredQuestion(name), () -> opening.with(request));
    }

    private <T> CompletableFuture<T> questionOfAll(Function<Store, CompletionStage<T>> request) {
        return send(List.of(), (proof, value) -> proof.answeredQuestion(), () -> opening.with(request));
    }

    /**
     * Sends a request, and counts it.
     *
     * @param names what it is about; empty if it is about all
     * @param proves tells what its answer proves
     */
    private <T> CompletableFuture<T> send(
            List<String> names, BiConsumer<Reachability, T> proves, Supplier<CompletionStage<T>> request) {
        long sent = engine.time.nanoTime();
        engine.telemetry.storeCalls.increment();
        CompletableFuture<T> answer = new CompletableFuture<>();
        BiConsumer<@Nullable T, @Nullable Throwable> ends = (value, failed) -> {
            Throwable failure = failed == null && value == null ? new NullPointerException(NULL) : failed;
            try {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                } else {
                    answer.complete(value);
                }
            } finally {
                // a store may throw for the name's part, and a timer may have no thread: it has its answer all the same
                WaitQueue.quietly(() -> ended(names, proves, sent, value, failure));
            }
        };
        try {
            Objects.requireNonNull(request.get(), NULL).whenComplete(ends);
        } catch (Throwable broken) { // an Error, too, must not leave a lock half-way between two states
            ends.accept(null, broken);
        }
        return answer;
    }

    private <T> void ended(
            List<String> names,
            BiConsumer<Reachability, T> proves,
            long sent,
            @Nullable T value,
            @Nullable Throwable failure) {
        engine.telemetry.storeNanos.add(engine.time.nanoTime() - sent);
        if (failure != null) {
            engine.telemetry.failedStoreCalls.increment();
        }
        Reachability heard = engine.reachability;
        if (failure == null) {
            proves.accept(heard, Objects.requireNonNull(value));
        } else if (names.isEmpty()) {
            heard.unanswered(sent, failure);
        } else {
            names.forEach(name -> heard.unanswered(name, sent, failure));
        }
    }

    // ---- what the store reports by itself ----

    @Override
    public void lost(Grant grant) {
        GrantState live = find(grant, claim -> claim.knownLost = true);
        if (live != null) {
            engine.renewer.lose(live, Loss.Cause.SESSION_ENDED);
        }
    }

    @Override
    public void suspect(Grant grant) {
        GrantState live = find(grant, claim -> claim.inDoubt = true);
        if (live != null) {
            engine.renewer.doubt(live);
        }
    }

    /** A grant is watched only once its claim's answer was handled, so it is known. */
    @Override
    public void wanted(Grant grant) {
        GrantState live = engine.renewer.find(grant);
        if (live != null) {
            live.lock().wanted(live);
        }
    }

    @Override
    public void unreachable(String name, Throwable why) {
        engine.reachability.unreachable(name, why);
    }

    @Override
    public void reachable() {
        engine.reachability.reachable();
    }

    @Override
    public void reachable(String name) {
        engine.reachability.answered(name);
    }

    /** The grant as the renewer knows it; null if its claim's answer is not handled yet; the claim then receives the notice. */
    private @Nullable GrantState find(Grant grant, Consumer<ClaimInFlight> notice) {
        GrantState live = engine.renewer.find(grant);
        WaitQueue queue =
                live == null ? engine.locks.find(grant.name(), grant.mode().kind()) : null;
        if (queue == null) {
            return live;
        }
        queue.onStoreNotice(grant.id(), notice);
        return engine.renewer.find(grant); // the answer may have been handled meanwhile
    }
}
