package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Redacted;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * <p>So an outage never looks like a lock that others hold. Thread-safe.
 */
final class Reachability implements CountingStore.Report {
    /** An answer that came within this time proves that the store answers now. */
    private static final Duration FRESH = Duration.ofMillis(250);

    private static final Duration LONGEST_PROOF = Duration.ofMinutes(1);
    private static final Duration SHORTEST_CHECK = Duration.ofMillis(100);
    private static final int CHECKS_PER_LIMIT = 20;

    /**
     * One outage.
     *
     * @param told whether the store reported that it cannot serve the claims that wait; it may answer questions all the
     *     same, as a file does to which somebody else writes without end
     */
    private record Outage(long since, Throwable why, boolean told) {}

    /** The callers of this client who wait. */
    interface Waits {
        /** A name in the store that some caller without a time limit has waited for since then or longer; or null. */
        @Nullable
        String waitedForSince(long nanos);

        /** The lock that some caller waits for, as the client knows it; null if nobody waits. */
        @Nullable
        String waitedFor();

        /** Ends such waits. */
        void failSince(long nanos, StoreUnavailableException why);
    }

    private final Store store;
    private final TimeSource time;
    private final Telemetry telemetry;
    private final Duration limit;
    private final Waits waits;
    private final AtomicReference<@Nullable Outage> outage = new AtomicReference<>();
    private final AtomicReference<@Nullable CompletableFuture<Void>> question = new AtomicReference<>();
    /** For changes of the outage alone, so that listeners hear of them in their order. */
    private final ReentrantLock change = new ReentrantLock();

    private final AtomicBoolean checking = new AtomicBoolean();
    private volatile long lastAnswer;

    /**
     * @param store where a question is asked, which reports each answer here
     * @param limit how long callers without a time limit wait while the store does not answer
     */
    Reachability(Store store, TimeSource time, Telemetry telemetry, Duration limit, Waits waits) {
        this.store = store;
        this.time = time;
        this.telemetry = telemetry;
        this.limit = limit;
        this.waits = waits;
        this.lastAnswer = time.nanoTime() - FRESH.toNanos();
    }

    /** The store carried out a request, or reports that it can serve the claims that wait. */
    @Override
    public void answered() {
        lastAnswer = time.nanoTime();
        if (outage.get() != null) {
            end(true);
        }
    }

    /** The store answered a question, which says little of claims. */
    @Override
    public void answeredQuestion() {
        lastAnswer = time.nanoTime();
        if (outage.get() != null) {
            end(false);
        }
    }

    /** A request that was sent then got no answer. It says nothing where others were answered in the meantime. */
    @Override
    public void unanswered(long sent, Throwable failure) {
        if (sent - lastAnswer >= 0 && isUnavailable(failure)) {
            begin(failure, false);
        }
    }

    /** The store reports that it cannot serve the claims that wait. */
    void unreachable(Throwable why) {
        begin(isUnavailable(why) ? why : new StoreUnavailableException(Redacted.text(why), why), true);
    }

    private void begin(Throwable why, boolean told) {
        Outage before = outage.get();
        if (before != null && (before.told || !told)) {
            return;
        }
        change.lock();
        try {
            before = outage.get();
            if (before != null && (before.told || !told)) {
                return; // another thread was first, and knows at least as much
            }
            outage.set(new Outage(before == null ? time.nanoTime() : before.since, why, told));
            if (before != null) {
                return;
            }
            telemetry.unreachable(why);
        } finally {
            change.unlock();
        }
        telemetry.flush();
        telemetry.recordUnreachable(waits.waitedFor(), why, limit);
        waiting();
    }

    private void end(boolean alsoTold) {
        change.lock();
        try {
            Outage ended = outage.get();
            if (ended == null || (ended.told && !alsoTold)) {
                return;
            }
            outage.set(null);
            telemetry.reachable(Duration.ofNanos(time.nanoTime() - ended.since));
        } finally {
            change.unlock();
        }
        telemetry.flush();
    }

    /**
     * Proves that the store answers, by a question about a name where no answer came a moment ago. Fails with what the
     * caller is to be told if it does not.
     */
    CompletableFuture<Void> proof(String inStore) {
        Outage now = outage.get();
        if (now == null && time.nanoTime() - lastAnswer < FRESH.toNanos()) {
            return CompletableFuture.completedFuture(null);
        }
        return failIfTold().thenCompose(reachable -> ask(inStore)).thenCompose(answered -> failIfTold());
    }

    /** Fails while the store reports that it cannot serve claims: before a question, and where it says so meanwhile. */
    private CompletableFuture<Void> failIfTold() {
        Outage now = outage.get();
        return now != null && now.told
                ? CompletableFuture.failedFuture(Failures.cause(now.why))
                : CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<Void> ask(String inStore) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> underWay = question.compareAndExchange(null, mine);
        if (underWay != null) {
            return underWay;
        }
        ReleaseSender.guarded(() -> store.status(inStore)).whenComplete((status, failure) -> {
            question.set(null);
            if (failure != null
                    && (isUnavailable(failure) || Failures.cause(failure) instanceof ClientClosedException)) {
                mine.completeExceptionally(Failures.cause(failure));
            } else {
                mine.complete(null);
            }
        });
        return mine;
    }

    /** A caller waits from now on: in an outage, his wait is watched. */
    void waiting() {
        if (outage.get() != null && checking.compareAndSet(false, true)) {
            time.schedule(this::check, limit);
        }
    }

    /** Ends the waits that have lasted for the limit within an outage, once a last question got no answer. */
    private void check() {
        Outage now = outage.get();
        if (now == null || waits.waitedForSince(time.nanoTime()) == null) {
            checking.set(false);
            if (waits.waitedForSince(time.nanoTime()) != null) {
                waiting(); // he came in between
            }
            return;
        }
        long since = time.nanoTime() - Durations.nanos(limit);
        String overdue = now.since - since <= 0 ? waits.waitedForSince(since) : null;
        if (overdue == null) {
            checkAgain();
            return;
        }
        proof(overdue).whenComplete((answered, failure) -> {
            if (failure != null && isUnavailable(failure)) {
                waits.failSince(since, tooLong(failure, now));
            }
            checkAgain();
        });
    }

    private StoreUnavailableException tooLong(Throwable failure, Outage of) {
        return new StoreUnavailableException(
                "the store has not answered for " + Durations.text(limit)
                        + ", the outageLimit of this client; see that it is up and can be reached: "
                        + Failures.cause(failure).getMessage(),
                of.why);
    }

    private void checkAgain() {
        Duration part = limit.dividedBy(CHECKS_PER_LIMIT);
        time.schedule(this::check, part.compareTo(SHORTEST_CHECK) < 0 ? SHORTEST_CHECK : part);
    }

    /**
     * Does something once there is a proof, or a store that owes its answer was given time enough, and perhaps again when
     * the proof comes later: with what a caller hears where it failed, else with null.
     */
    void afterProof(CompletableFuture<Void> proof, Consumer<@Nullable Throwable> then) {
        Scheduled guard = proof.isDone() ? () -> {} : time.schedule(() -> then.accept(noProof()), longestProof());
        proof.whenComplete((answered, failure) -> {
            guard.cancel();
            then.accept(failure == null ? null : Failures.cause(failure));
        });
    }

    private StoreUnavailableException noProof() {
        return new StoreUnavailableException(store.description() + " did not answer within "
                + Durations.text(longestProof()) + " to what came of the wait; see that it is up");
    }

    /** How long a caller waits for the proof of a store that breaks its contract and never answers. */
    private Duration longestProof() {
        return limit.compareTo(LONGEST_PROOF) > 0 ? limit : LONGEST_PROOF;
    }

    private static boolean isUnavailable(Throwable failure) {
        return Failures.cause(failure) instanceof StoreUnavailableException;
    }
}
