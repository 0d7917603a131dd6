package dev.holdfast;

import dev.holdfast.internal.Durations;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.Log;
import dev.holdfast.internal.StackRoom;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A candidate for leadership: in line, or leading.
 *
 * <pre>{@code
 * try (Candidacy candidacy = client.election("reports").stand()) {
 *     Term term = candidacy.awaitTerm();
 *     reports.write(term.token());
 * }
 * }</pre>
 *
 * <pre>
 *   in line ── granted ──► leading ── lost, resigned, or onElected threw ──► in line, at its end
 *      ▲                      │
 *      │                      └─ isLeader() is false, then onRevoked runs, then the hold is released
 *      └── the store failed: logged, tried again after a pause
 * </pre>
 *
 * <p>A failing store ends no candidacy: it is reported in the log and tried again until the candidacy or its client is
 * closed. Thread-safe.
 */
public final class Candidacy implements AutoCloseable {
    /** A term is released after this, or after its lease if that is shorter, though its listener has not returned. */
    private static final Duration LONGEST_END = Duration.ofSeconds(30);

    private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Engine engine;
    private final DistributedLock lock;
    private final Candidacies candidacies;
    private final SerialCalls calls;
    private final TermWork work;
    private final Pause afterRefusals = new Pause();
    private final CompletableFuture<Void> finished = new CompletableFuture<>();

    private final ReentrantLock mutex = new ReentrantLock();
    private final Condition changed = mutex.newCondition();
    private @Nullable CompletableFuture<Hold> place; // in line; guarded by the mutex, as what follows
    private volatile @Nullable Term term; // changed under the mutex, read by any thread
    private volatile boolean closed;
    private volatile long closeEnds;

    private Candidacy(
            Engine engine, DistributedLock lock, Candidacies candidacies, LeaderListener listener, boolean interrupts) {
        this.engine = engine;
        this.lock = lock;
        this.candidacies = candidacies;
        this.calls = new SerialCalls(candidacies.threads(), retry -> engine.after(Pause.SHORTEST, retry));
        this.work = new TermWork(listener, interrupts, this::warn);
    }

    static Candidacy begin(
            Engine engine, DistributedLock lock, Candidacies candidacies, LeaderListener listener, boolean interrupts) {
        Candidacy begun = new Candidacy(engine, lock, candidacies, listener, interrupts);
        candidacies.add(lock.name(), begun);
        try {
            begun.queueUp();
        } catch (Throwable refused) {
            candidacies.remove(lock.name(), begun);
            throw refused;
        }
        return begun;
    }

    /**
     * Whether this process surely leads right now; as {@link Term#isValid()}. This method sends no request. It is true
     * before {@link LeaderListener#onElected} runs, and false before {@link LeaderListener#onRevoked} runs.
     */
    public boolean isLeader() {
        return term().isPresent();
    }

    /** The present term; empty while this process does not surely lead. */
    public Optional<Term> term() {
        return Optional.ofNullable(term).filter(Term::isValid);
    }

    /**
     * Waits until this process leads.
     *
     * @throws InterruptedException if the thread is interrupted before or while waiting
     * @throws IllegalStateException if the candidacy is closed, or is closed meanwhile; or if the candidacy's own listener
     *     waits while the candidate does not lead: it would wait for itself
     */
    public Term awaitTerm() throws InterruptedException {
        return await(Long.MAX_VALUE).orElseThrow(IllegalStateException::new);
    }

    /**
     * Waits until this process leads, for a time.
     *
     * @param wait how long, not negative
     * @return the term, or empty if the time passed
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws InterruptedException if the thread is interrupted before or while waiting
     * @throws IllegalStateException as {@link #awaitTerm()}
     */
    @CheckReturnValue
    public Optional<Term> awaitTerm(Duration wait) throws InterruptedException {
        Durations.checkWait(wait);
        return await(Durations.nanos(wait));
    }

    private Optional<Term> await(long nanos) throws InterruptedException {
        long left = nanos;
        while (true) {
            Term now = term;
            if (closed) {
                throw new IllegalStateException("the candidacy for '" + lock.name() + "' is closed");
            }
            if (now != null && now.isValid()) {
                return Optional.of(now);
            }
            if (left <= 0) {
                return Optional.empty();
            }
            if (calls.isCurrent()) {
                throw new IllegalStateException("the listener of the candidacy for '" + lock.name()
                        + "' waits for a term that cannot begin before it has returned");
            }
            // a term in doubt becomes valid again without notice: check again soon
            long most = now == null ? left : Math.min(left, CHECK_NANOS);
            left -= most - awaitChange(now, most);
        }
    }

    /** Waits until there is another term, or for a time; what is left of the time. */
    @SuppressWarnings("WaitNotInLoop") // its caller checks again
    private long awaitChange(@Nullable Term known, long nanos) throws InterruptedException {
        mutex.lockInterruptibly();
        try {
            return term != known || closed ? nanos : Math.max(0, changed.awaitNanos(nanos));
        } finally {
            mutex.unlock();
        }
    }

    /** Ends the present term, if there is one, and goes to the end of the line; as {@link Term#resign()}. */
    public void resign() {
        Term leading = term;
        if (leading != null) {
            leading.resign();
        }
    }

    /**
     * Leaves the line, or ends the present term as {@link Term#resign()} does. Waits until the listener has returned, for a
     * lease at most, 30 s if that is shorter, whether or not the thread is interrupted; where the listener itself calls
     * it, or has called {@link System#exit}, not at all. Closing twice waits as well.
     */
    @Override
    public void close() {
        beginClose();
        if (!calls.isCurrent()) {
            awaitFinished();
        }
        candidacies.remove(lock.name(), this);
    }

    /** Ends everything, and does not wait. */
    void beginClose() {
        StackRoom.forStep(); // as a resignation
        CompletableFuture<Hold> waiting;
        Term leading;
        mutex.lock();
        try {
            if (closed) {
                return;
            }
            closeEnds = System.nanoTime() + longestEnd().toNanos();
            closed = true;
            waiting = place;
            leading = term;
            changed.signalAll();
        } finally {
            mutex.unlock();
        }
        if (waiting != null) {
            waiting.cancel(false);
        }
        if (leading != null) {
            end(leading, null);
        }
        if (waiting != null && leading == null && calls.isIdle()) {
            finished.complete(null); // in line: there is no term to report
        } else {
            // after the work under way, and after the grant that may result from it, which is no longer wanted
            calls.execute(() -> calls.execute(() -> finished.complete(null)));
        }
    }

    private void awaitFinished() {
        boolean interrupted = false;
        while (true) {
            try {
                finished.get(Math.min(CHECK_NANOS, closeEnds - System.nanoTime()), TimeUnit.NANOSECONDS);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            } catch (TimeoutException | ExecutionException slow) {
                calls.leaveExiting();
                if (closeEnds - System.nanoTime() > 0) {
                    continue;
                }
                warn(() -> "its listener has not returned " + longestEnd().toSeconds()
                        + " s after the candidacy was closed; see what it waits for");
                break;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Duration longestEnd() {
        Duration lease = lock.options().lease();
        return lease.compareTo(LONGEST_END) < 0 ? lease : LONGEST_END;
    }

    // ---- in line ----

    private void queueUp() {
        CompletableFuture<Hold> asked = lock.acquireAsync(calls);
        mutex.lock();
        try {
            place = asked;
        } finally {
            mutex.unlock();
        }
        asked.whenComplete(this::served);
        if (closed) {
            asked.cancel(false);
        }
    }

    private void served(@Nullable Hold hold, @Nullable Throwable failure) {
        if (hold != null) {
            elected(hold);
            return;
        }
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof CancellationException) {
            return; // the candidacy was closed
        }
        if (cause instanceof ClientClosedException) {
            beginClose();
            candidacies.remove(lock.name(), this);
            return;
        }
        Duration pause = cause instanceof StoreUnavailableException ? Pause.SHORTEST : afterRefusals.afterFailure();
        queueUpAfter(pause);
        warn(() -> "it could not queue up, and tries again in " + pause.toSeconds() + " s: " + cause);
    }

    private void queueUpAfter(Duration pause) {
        engine.after(pause, () -> calls.execute(this::queueUpAgain));
    }

    private void queueUpAgain() {
        if (closed) {
            return;
        }
        try {
            queueUp();
        } catch (Throwable failed) { // also an Error: a candidate that stops would be missed when it is needed
            served(null, failed);
        }
    }

    // ---- leading ----

    private void elected(Hold hold) {
        Term begun = new Term(this, hold);
        boolean unwanted;
        mutex.lock();
        try {
            place = null;
            unwanted = closed;
            if (!unwanted) {
                term = begun;
                changed.signalAll();
            }
        } finally {
            mutex.unlock();
        }
        if (unwanted) {
            begun.release();
            return;
        }
        afterRefusals.reset();
        calls.execute(() -> lead(begun));
        begun.watch(); // may end it now
    }

    /** All of a term, on the candidacy's thread. */
    private void lead(Term begun) {
        work.elected(begun);
        if (begun.failed) {
            end(begun, null);
        }
    }

    /** Ends a term: first for callers, then for the listener, then in the store. */
    void end(Term ending, @Nullable Loss loss) {
        if (!ending.end(loss)) {
            return;
        }
        mutex.lock();
        try {
            if (ending.equals(term)) {
                term = null;
                work.interrupt();
            }
        } finally {
            mutex.unlock();
        }
        try {
            // released by then if the listener hangs
            ending.onRelease(engine.after(longestEnd(), ending::release)::cancel);
        } finally { // also without a timer: a term that is not released keeps others from leading
            calls.execute(() -> {
                calls.execute(() -> ended(ending)); // also where the listener has ended the JVM
                work.revoked(ending);
            });
        }
    }

    private void ended(Term over) {
        over.release();
        if (over.failed) {
            queueUpAfter(work.pauseAfterFailure());
        } else if (engine.capabilities().fair()) {
            queueUpAgain();
        } else {
            queueUpAfter(Pause.SHORTEST); // the others would have to be as quick as this one to lead at all
        }
    }

    private void warn(Supplier<String> what) {
        Log.warn(() -> "the candidacy for '" + lock.name() + "' on " + engine.storeDescription() + ": " + what.get());
    }

    @Override
    public String toString() {
        return "Candidacy[" + lock.name() + " on " + engine.storeDescription() + (isLeader() ? ", leading]" : "]");
    }
}
