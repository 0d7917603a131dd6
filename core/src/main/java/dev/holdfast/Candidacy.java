package dev.holdfast;

import dev.holdfast.internal.Engine;
import dev.holdfast.internal.Log;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
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
    private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
    private static final long CLOSE_SECONDS = 5;
    private static final long IDLE_SECONDS = 10;

    private final Engine engine;
    private final DistributedLock lock;
    private final Candidacies candidacies;
    private final LeaderListener listener;
    private final boolean interrupts;
    /** Runs the listener: one call after another, on a thread that exists while there is something to tell. */
    private final ThreadPoolExecutor calls;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Condition changed = mutex.newCondition();
    private @Nullable CompletableFuture<Hold> place; // in line; guarded by the mutex, as what follows
    private volatile @Nullable Term term; // changed under the mutex, read by everybody
    private @Nullable Term working; // whose onElected runs now
    private @Nullable Thread worker;
    private Duration pause = SHORTEST_PAUSE;
    private boolean closed;

    private Candidacy(
            Engine engine, DistributedLock lock, Candidacies candidacies, LeaderListener listener, boolean interrupts) {
        this.engine = engine;
        this.lock = lock;
        this.candidacies = candidacies;
        this.listener = listener;
        this.interrupts = interrupts;
        this.calls = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "holdfast-leader-" + lock.name());
            thread.setDaemon(true);
            return thread;
        });
        calls.allowCoreThreadTimeOut(true);
    }

    static Candidacy begin(
            Engine engine, DistributedLock lock, Candidacies candidacies, LeaderListener listener, boolean interrupts) {
        Candidacy begun = new Candidacy(engine, lock, candidacies, listener, interrupts);
        candidacies.add(lock.name(), begun);
        try {
            begun.queueUp();
        } catch (RuntimeException refused) {
            candidacies.remove(lock.name(), begun);
            throw refused;
        }
        return begun;
    }

    /**
     * Whether this process surely leads right now; as {@link Term#isValid()}. Asks nobody. True before
     * {@link LeaderListener#onElected} runs, false before {@link LeaderListener#onRevoked}.
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
     * @throws IllegalStateException if the candidacy is closed, or is closed meanwhile
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
     * @throws IllegalStateException if the candidacy is closed, or is closed meanwhile
     */
    @CheckReturnValue
    public Optional<Term> awaitTerm(Duration wait) throws InterruptedException {
        return await(engine.nanosOfWait(wait));
    }

    private Optional<Term> await(long nanos) throws InterruptedException {
        long left = nanos;
        mutex.lockInterruptibly();
        try {
            while (true) {
                if (closed) {
                    throw new IllegalStateException("the candidacy for '" + lock.name() + "' is closed");
                }
                Term now = term;
                if (now != null && now.isValid()) {
                    return Optional.of(now);
                }
                if (left <= 0) {
                    return Optional.empty();
                }
                // a term in doubt becomes valid again without a word: look again soon
                long look = now == null ? left : Math.min(left, TimeUnit.MILLISECONDS.toNanos(50));
                left -= look - Math.max(0, changed.awaitNanos(look));
            }
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
     * Leaves the line, or ends the present term as {@link Term#resign()} does. Waits until the listener has returned, for
     * five seconds at most, unless the listener calls it. Closing twice does nothing.
     */
    @Override
    public void close() {
        CompletableFuture<Hold> waiting;
        Term leading;
        mutex.lock();
        try {
            if (closed) {
                return;
            }
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
        candidacies.remove(lock.name(), this);
        awaitCalls();
    }

    private void awaitCalls() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        calls.execute(() -> done.complete(null));
        boolean within;
        mutex.lock();
        try {
            within = Thread.currentThread().equals(worker);
        } finally {
            mutex.unlock();
        }
        if (within) {
            return;
        }
        try {
            done.get(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException slow) {
            Log.warn(() -> "the listener of the candidacy for '" + lock.name() + "' on " + engine.storeDescription()
                    + " has not returned " + CLOSE_SECONDS
                    + " s after the candidacy was closed; see what it waits for");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- in line ----

    private void queueUp() {
        CompletableFuture<Hold> asked = lock.acquireAsync();
        boolean unwanted;
        mutex.lock();
        try {
            unwanted = closed;
            place = asked;
        } finally {
            mutex.unlock();
        }
        asked.whenComplete(this::served);
        if (unwanted) {
            asked.cancel(false);
        }
    }

    private void served(@Nullable Hold hold, @Nullable Throwable failure) {
        if (hold != null) {
            elected(hold);
        } else if (!(failure instanceof CancellationException)) {
            Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
            if (cause instanceof ClientClosedException) {
                close();
                return;
            }
            Log.warn(() -> "the candidacy for '" + lock.name() + "' failed and goes on in a moment: " + cause);
            again();
        }
    }

    /** Queues up once more, after a pause that grows from failure to failure. */
    private void again() {
        Duration wait;
        mutex.lock();
        try {
            wait = pause;
            pause = wait.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : wait.multipliedBy(2);
        } finally {
            mutex.unlock();
        }
        engine.after(wait, () -> calls.execute(this::goOn));
    }

    private void goOn() {
        mutex.lock();
        try {
            if (closed) {
                return;
            }
        } finally {
            mutex.unlock();
        }
        try {
            queueUp();
        } catch (RuntimeException failed) {
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
        calls.execute(() -> lead(begun));
        begun.onLost(); // may end it now
    }

    /** All of a term, on the candidacy's thread. */
    private void lead(Term begun) {
        if (!start(begun)) {
            return; // it ended before anybody heard of it; what follows the end is queued already
        }
        try {
            listener.onElected(begun);
            succeeded();
        } catch (Throwable failed) {
            if (!begun.hasEnded() || !(failed instanceof InterruptedException)) {
                Log.warn(() -> "the leader of '" + lock.name() + "' on " + engine.storeDescription()
                        + " failed, and its term ends: " + failed);
                begun.failed = true;
            }
        } finally {
            stop();
        }
        if (begun.failed) {
            end(begun, null);
        }
    }

    private boolean start(Term begun) {
        mutex.lock();
        try {
            if (begun.hasEnded()) {
                return false;
            }
            begun.told = true;
            working = begun;
            worker = Thread.currentThread();
            return true;
        } finally {
            mutex.unlock();
        }
    }

    private void stop() {
        mutex.lock();
        try {
            working = null;
            worker = null;
            Thread.interrupted(); // meant for the work that has just returned
        } finally {
            mutex.unlock();
        }
    }

    private void succeeded() {
        mutex.lock();
        try {
            pause = SHORTEST_PAUSE;
        } finally {
            mutex.unlock();
        }
    }

    /** Ends a term: first for whoever asks, then for the listener, then in the store. */
    void end(Term ending, @Nullable Loss loss) {
        if (!ending.end(loss)) {
            return;
        }
        mutex.lock();
        try {
            if (ending.equals(term)) {
                term = null;
            }
            if (interrupts && ending.equals(working) && worker != null && !worker.equals(Thread.currentThread())) {
                worker.interrupt();
            }
        } finally {
            mutex.unlock();
        }
        if (loss == null) {
            engine.after(lock.options().lease(), ending::release); // if the listener hangs
        }
        calls.execute(() -> ended(ending));
    }

    private void ended(Term over) {
        if (over.told) {
            tellEnd(over);
        }
        over.release();
        if (over.failed) {
            again();
        } else {
            goOn();
        }
    }

    private void tellEnd(Term over) {
        mutex.lock();
        try {
            worker = Thread.currentThread();
        } finally {
            mutex.unlock();
        }
        try {
            listener.onRevoked(over);
        } catch (Throwable failed) {
            Log.warn(() -> "the listener of the candidacy for '" + lock.name() + "' on " + engine.storeDescription()
                    + " failed at the end of a term: " + failed);
        } finally {
            stop();
        }
    }

    @Override
    public String toString() {
        return "Candidacy[" + lock.name() + " on " + engine.storeDescription() + (isLeader() ? ", leading]" : "]");
    }
}
