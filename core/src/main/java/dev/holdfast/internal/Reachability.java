package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether the store answers, as far as this client can know, and what follows for callers who wait.
 *
 * <pre>
 *   request answered ──► reachable ◄── the store reports it       request failed ──► unreachable ◄── the store reports it
 *                                                                                        │
 *                                     outage limit passed ──► ask once more ── failed ──► waits without a time fail
 *
 *   a timed wait ends ──► answered a moment ago? ── yes ──────────────────────► others hold the lock: empty
 *                                   │ no                                          ▲
 *                                   └──► ask once more ── answered ───────────────┘
 *                                              └── failed ──► StoreUnavailableException
 * </pre>
 *
 * <p>So an outage never looks like a lock that others hold. Each part of a store that has several is reachable or not by
 * itself; listeners hear when the first part is away, and when none is any more. Thread-safe.
 */
final class Reachability {
    /** An answer that came within this time proves that the store answers now. */
    private static final Duration FRESH = Duration.ofMillis(250);

    private static final Duration BETWEEN_QUESTIONS = Duration.ofSeconds(1);
    private static final Duration LONGEST_PROOF = Duration.ofMinutes(1);
    private static final Duration SHORTEST_CHECK = Duration.ofMillis(100);
    private static final int CHECKS_PER_LIMIT = 20;
    /** For what concerns all names. */
    private static final String ANY = "";

    /**
     * One outage.
     *
     * @param name the name whose request got no answer; another part may store it by now
     * @param reported whether the store itself reported that it cannot serve waiting claims. Such a store may still answer
     *     questions, for example a file to which another process writes without end
     */
    private record Outage(String name, long since, Throwable why, boolean reported) {}

    private final StoreLink store;
    private final TimeSource time;
    private final Telemetry telemetry;
    private final Duration limit;
    private final LocalLocks locks;
    private final long begun;
    /** By the names that {@link Store#part} returns. */
    private final Map<String, Part> parts = new ConcurrentHashMap<>();
    /** Guards changes of the outages alone, so that listeners receive them in order. */
    private final ReentrantLock change = new ReentrantLock();

    private final AtomicBoolean checking = new AtomicBoolean();
    /** How many parts are away. */
    private final AtomicInteger away = new AtomicInteger();

    private long awaySince;

    /**
     * @param store where a question is asked, which reports each answer here
     * @param limit how long callers without a time limit wait while the store does not answer
     */
    Reachability(StoreLink store, TimeSource time, Telemetry telemetry, Duration limit, LocalLocks locks) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
        this.limit = limit;
        this.locks = locks;
        this.begun = time.nanoTime() - FRESH.toNanos();
    }

    /** Whether no part is away, as listeners hear it. */
    boolean isReachable() {
        return away.get() == 0;
    }

    private Part partOf(String name) {
        return parts.computeIfAbsent(store.part(name), absent -> new Part());
    }

    /** The store carried out a request about a name, or reports that it can serve the claims that wait for it. */
    void answered(String name) {
        heard(name, true);
    }

    /** During an outage, sends one query, because perhaps no caller sends a request that would show its end. */
    void answeredWithoutProof(String name) {
        Part part = partOf(name);
        if (part.outage != null) {
            askWhetherOver(part, name);
        }
    }

    /** The store answered a question about a name, which says little of claims. */
    void answeredQuestion(String name) {
        heard(name, false);
    }

    private void heard(String name, boolean alsoOfClaims) {
        Part answers = partOf(name);
        answers.lastAnswer = time.nanoTime();
        if (away.get() > 0) {
            parts.values().stream().filter(each -> isNow(each, answers)).forEach(each -> end(each, alsoOfClaims));
        }
    }

    /**
     * Asks one part of several every second until its outage ends, because perhaps no caller sends a request to it. Where
     * no caller waits for this part, no claim is left to report that it is back. Then an answer to a question also ends an
     * outage that the store reported.
     */
    private void askRegularly(Part part, Outage begun) {
        if (!store.part(begun.name()).equals(Store.WHOLE)) {
            time.schedule(() -> askUntilBack(part, begun), BETWEEN_QUESTIONS);
        }
    }

    private void askUntilBack(Part part, Outage begun) {
        Outage now = part.outage;
        if (now == null || now.since() != begun.since()) {
            return;
        }
        askWhetherOver(part, now.name()).whenComplete((answered, failure) -> {
            if (!(failure instanceof ClientClosedException)) {
                askRegularly(part, begun);
            }
        });
    }

    private CompletableFuture<Void> askWhetherOver(Part part, String inStore) {
        return part.ask(inStore).whenComplete((answered, failure) -> { // an answer is reported here, too
            if (failure == null && part.outage != null && locks.waits().noneMatch(queue -> isOf(queue, part))) {
                end(part, true);
            }
        });
    }

    /** Whether what a part left unanswered is kept by that one now. */
    private boolean isNow(Part part, Part answers) {
        Outage outage = part.outage;
        return part == answers || (outage != null && partOf(outage.name()) == answers);
    }

    /** Every part answered a question. */
    void answeredQuestion() {
        heardOfAll(false);
    }

    /** The store reports that it can serve all claims that wait. */
    void reachable() {
        heardOfAll(true);
    }

    private void heardOfAll(boolean alsoOfClaims) {
        long now = time.nanoTime();
        partOf(ANY).lastAnswer = now; // the only one, perhaps, and not known yet
        parts.values().forEach(part -> part.lastAnswer = now);
        if (away.get() > 0) {
            parts.values().forEach(part -> end(part, alsoOfClaims));
        }
    }

    /** A request that was sent then got no answer. It says nothing where others were answered in the meantime. */
    void unanswered(String name, long sent, Throwable failure) {
        Part part = partOf(name);
        if (!part.hasAnsweredSince(sent) && Failures.isUnavailable(failure)) {
            begin(part, name, failure, false);
        }
    }

    /** A question to all parts got no answer: that of a store of several parts does not say from which. */
    void unanswered(long sent, Throwable failure) {
        if (store.part(ANY).equals(Store.WHOLE)) {
            unanswered(ANY, sent, failure);
        }
    }

    /** The store reports that it cannot serve the claims that wait for a name. */
    void unreachable(String name, Throwable why) {
        begin(
                partOf(name),
                name,
                Failures.isUnavailable(why) ? why : new StoreUnavailableException(Redacted.text(why), why),
                true);
        waiting(); // its name may have moved to a part that was away before
    }

    private void begin(Part part, String name, Throwable why, boolean reported) {
        Outage begun;
        change.lock();
        try {
            Outage before = part.outage;
            if (before != null && (before.reported || !reported)) {
                return; // the same outage, of which the store may only report what a request has shown so far
            }
            long now = time.nanoTime();
            begun = new Outage(name, before == null ? now : before.since(), why, reported);
            part.outage = begun;
            if (before != null) {
                return;
            }
            if (away.incrementAndGet() == 1) {
                awaySince = now;
                telemetry.unreachable(why);
            }
        } finally {
            change.unlock();
        }
        telemetry.flush();
        String waitedFor =
                locks.waits().map(queue -> queue.name.name()).findFirst().orElse(null);
        telemetry.recordUnreachable(waitedFor, why, limit);
        waiting();
        askRegularly(part, begun);
    }

    private void end(Part part, boolean alsoReported) {
        change.lock();
        try {
            Outage ended = part.outage;
            if (ended == null || (ended.reported() && !alsoReported)) {
                return;
            }
            part.outage = null;
            if (away.decrementAndGet() == 0) {
                telemetry.reachable(Duration.ofNanos(time.nanoTime() - awaySince));
            }
        } finally {
            change.unlock();
        }
        telemetry.flush();
    }

    /**
     * Proves that the store answers, by a question about a name where no answer came a moment ago. If it does
     * not, this fails with the exception for the caller.
     */
    CompletableFuture<Void> proof(String inStore) {
        Part part = partOf(inStore);
        if (part.outage == null && part.hasAnsweredSince(time.nanoTime() - FRESH.toNanos())) {
            return CompletableFuture.completedFuture(null);
        }
        return part.failIfReported()
                .thenCompose(reachable -> part.ask(inStore))
                .thenCompose(answered -> part.failIfReported());
    }

    /** A caller waits from now on: in an outage, its wait is checked. */
    void waiting() {
        if (away.get() > 0 && checking.compareAndSet(false, true)) {
            try {
                time.schedule(this::check, limit);
            } catch (Throwable noThread) {
                checking.set(false); // the next caller has it checked
                throw noThread;
            }
        }
    }

    private void check() {
        try {
            checkThoseWhoWait();
        } catch (Throwable broken) { // of the store's client, or of memory
            checkAnew();
            throw broken;
        }
    }

    private void checkAnew() {
        checking.set(false);
        waiting();
    }

    /** Ends the waits that have lasted for the limit within an outage, once a last question got no answer. */
    private void checkThoseWhoWait() {
        if (nobodyWaitsInVain()) {
            checking.set(false);
            if (!nobodyWaitsInVain()) {
                waiting(); // a caller came in between
            }
            return;
        }
        long since = time.nanoTime() - Durations.nanos(limit);
        String overdue = waitedForInVain(since);
        Part part = overdue == null ? null : partOf(overdue);
        Outage outage = part == null ? null : part.outage;
        if (overdue == null || outage == null) {
            checkAgain();
            return;
        }
        proof(overdue).whenComplete((answered, failure) -> {
            try {
                if (failure != null && Failures.isUnavailable(failure)) {
                    StoreUnavailableException why = tooLong(failure, outage);
                    locks.waits().filter(queue -> isOf(queue, part)).forEach(queue -> queue.failSince(since, why));
                }
            } finally {
                checkAgain();
            }
        });
    }

    private boolean nobodyWaitsInVain() {
        long now = time.nanoTime();
        return away.get() == 0 || waitedForInVain(now) == null;
    }

    /** A name for which somebody without a time limit waits, and whose part is away, both since then or longer; or null. */
    private @Nullable String waitedForInVain(long since) {
        return locks.waits()
                .filter(queue -> queue.anySince(since))
                .map(queue -> queue.name.inStore())
                .filter(name -> partOf(name).isAwaySince(since))
                .findFirst()
                .orElse(null);
    }

    private boolean isOf(WaitQueue queue, @Nullable Part part) {
        return partOf(queue.name.inStore()) == part;
    }

    private StoreUnavailableException tooLong(Throwable failure, Outage of) {
        return new StoreUnavailableException(
                "the store could not serve the claim for " + Durations.text(limit)
                        + ", the outageLimit of this client; see that it is up, and the cause: "
                        + Failures.cause(failure).getMessage(),
                of.why());
    }

    private void checkAgain() {
        Duration part = limit.dividedBy(CHECKS_PER_LIMIT);
        try {
            time.schedule(this::check, part.compareTo(SHORTEST_CHECK) < 0 ? SHORTEST_CHECK : part);
        } catch (Throwable noThread) {
            checkAnew();
        }
    }

    /**
     * Does something once there is a proof, or a store that owes its answer was given time enough, and perhaps again when
     * the proof comes later: with what a caller hears where it failed, else with null.
     */
    void afterProof(CompletableFuture<Void> proof, Consumer<@Nullable Throwable> then) {
        Scheduled guard = guard(proof, then);
        proof.whenComplete((answered, failure) -> {
            then.accept(failure == null ? null : Failures.cause(failure));
            guard.cancel(); // last: if that has failed, the guard does it
        });
    }

    private Scheduled guard(CompletableFuture<Void> proof, Consumer<@Nullable Throwable> then) {
        try {
            return proof.isDone() ? () -> {} : time.schedule(() -> then.accept(noProof()), longestProof());
        } catch (Throwable noThread) {
            return () -> {}; // the proof alone ends it
        }
    }

    private StoreUnavailableException noProof() {
        return new StoreUnavailableException(store.description() + " did not answer within "
                + Durations.text(longestProof()) + " to what came of the wait; see that it is up");
    }

    /** How long a caller waits for the proof of a store that breaks its contract and never answers. */
    private Duration longestProof() {
        return limit.compareTo(LONGEST_PROOF) > 0 ? limit : LONGEST_PROOF;
    }

    /**
     * What a client knows of one {@linkplain dev.holdfast.spi.Store#part part} of the store: when it answered, and whether it is away. Most stores
     * have one part. Thread-safe; the outage is changed by one thread at a time.
     */
    private final class Part {
        private final AtomicReference<@Nullable CompletableFuture<Void>> question = new AtomicReference<>();
        volatile @Nullable Outage outage;
        volatile long lastAnswer = begun;

        boolean isAwaySince(long nanos) {
            Outage now = outage;
            return now != null && now.since - nanos <= 0;
        }

        /** Whether an answer came after that moment. */
        boolean hasAnsweredSince(long nanos) {
            return lastAnswer - nanos > 0;
        }

        /** Fails while the store reports that it cannot serve claims. */
        CompletableFuture<Void> failIfReported() {
            Outage now = outage;
            return now != null && now.reported
                    ? CompletableFuture.failedFuture(Failures.cause(now.why))
                    : CompletableFuture.completedFuture(null);
        }

        /** Asks about a name, unless a question is under way; fails if no answer comes. */
        CompletableFuture<Void> ask(String inStore) {
            CompletableFuture<Void> mine = new CompletableFuture<>();
            CompletableFuture<Void> underWay = question.compareAndExchange(null, mine);
            if (underWay != null) {
                return underWay;
            }
            try {
                store.status(inStore).whenComplete((status, failure) -> {
                    question.set(null);
                    if (failure != null
                            && (Failures.isUnavailable(failure)
                                    || Failures.cause(failure) instanceof ClientClosedException)) {
                        mine.completeExceptionally(Failures.cause(failure));
                    } else {
                        mine.complete(null);
                    }
                });
            } catch (Throwable broken) { // an Error: the next one asks anew
                question.set(null);
                mine.completeExceptionally(broken);
            }
            return mine;
        }
    }
}
