package dev.holdfast;

import dev.holdfast.OncePlan.Decision;
import dev.holdfast.OnceResult.Ran;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceRun.State;
import dev.holdfast.internal.Durations;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.LockName;
import dev.holdfast.spi.RecordReading;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * One of several servers runs a piece of work, the others skip it: once in each period, or once for a key.
 *
 * <pre>{@code
 * Once report = client.once("report", OnceOptions.every(Duration.ofHours(1)));
 * OnceResult result = report.run(turn -> reports.write(turn.token()));       // each server, from its own timer
 * }</pre>
 *
 * <p>A lock alone does not give that: a server that requests the lock after the first has finished would acquire it and
 * run the work again. So a record is kept beside the lock:
 *
 * <pre>
 *   read the record and the store's clock ── done for this period ──────────────────────► skipped, without the lock
 *        │ not done
 *   acquire the lock ────────────────────── held by another ────────────────────────────► skipped
 *        │ token t
 *   record "begun", if t is not below the recorded token and the record is as it was read
 *        │                                   ── refused: read again, decide again
 *   run the work
 *        │
 *   record "done" or "failed", if t is not below the recorded token and the record of the beginning is still there
 *        │                                   ── refused: another has begun since ────────► failed
 *   release the lock
 * </pre>
 *
 * <p>The store's clock decides which period it is; the clocks of the clients decide nothing. The lock is the one of the
 * same name ({@link LockClient#lock}), the work has its token, and two runs never overlap while both locks are valid.
 *
 * <p>Further rules:
 * <ul>
 *   <li>Work that <b>throws</b> is recorded as failed, and run again at the next call in the same period, unless
 *       {@link OnceOptions#retryFailed(boolean)} says otherwise.
 *   <li>Work whose <b>process dies</b> is run again at the next call after the lock's lease has ended, unless
 *       {@link OnceOptions#retryCrashed(boolean)} says otherwise.
 *   <li>A period <b>without a call</b> is missed. {@link OnceTurn#lastDone()} returns the last period done, and
 *       {@link OnceOptions#makeUp(boolean)} runs the missed ones one after another.
 *   <li>Work that takes <b>longer than {@link OnceOptions#atMost()}</b>, or loses its lock otherwise, is not interrupted:
 *       {@link OnceTurn#isValid()} and {@link OnceTurn#onLost} say so. Its end is recorded only if no other process has begun.
 *   <li>Work that <b>could not begin</b> after all throws {@link NotBegunException}; the turn then counts as not taken.
 *   <li>Two programs that <b>disagree about the period</b> never run for periods that overlap; each object of this
 *       class logs it once.
 * </ul>
 *
 * <p>The record stays for a week after the end of its period, or for as long as its key is kept. Immutable and
 * thread-safe.
 */
public final class Once {
    private final Engine engine;
    private final LockName name;
    private final DistributedLock lock;
    private final OnceOptions options;
    private final OnceJournal journal;
    private final OncePlan plan;

    Once(Engine engine, LockName name, OnceOptions options) {
        if (!engine.capabilities().records()) {
            throw new UnsupportedByStoreException(engine.storeDescription() + " keeps no records, so '" + name
                    + "' cannot be run once on it: use another store");
        }
        this.engine = engine;
        this.name = name;
        this.lock = new DistributedLock(engine, name, options.hold());
        this.options = options;
        this.journal = new OnceJournal(engine, name, options);
        this.plan = new OncePlan(name(), engine.storeDescription(), options, OnceJournal.KEEP);
    }

    /** Its name, without the client's namespace; that of its lock. */
    public String name() {
        return name.name();
    }

    /** How often it runs, and what counts as done. */
    public OnceOptions options() {
        return options;
    }

    /**
     * Runs the work if no other caller runs it or has run it. Does not wait for another run.
     *
     * @param action the work; runs on this thread
     * @return the outcome; what the work threw is in {@link OnceResult.Failed}
     * @throws NotBegunException if the work threw it
     * @throws HoldLostException if the lock was lost before the work began
     * @throws StoreUnavailableException if the store did not answer. If the work ran, the message says so; it may be run
     *     again then
     * @throws HoldfastException as {@link DistributedLock#acquire()}, or if the record cannot be read
     */
    @CheckReturnValue
    public OnceResult run(OnceAction action) {
        RecordReading seen = journal.read();
        Optional<Skipped> skipped = decide(seen).skipped();
        if (skipped.isPresent()) {
            return skipped.get();
        }
        return run(lock.tryAcquire(), seen, action);
    }

    /**
     * Waits while another caller runs the work, then runs it if that caller did not finish it; otherwise as
     * {@link #run(OnceAction)}.
     *
     * @param wait how long to wait for the other caller; not negative
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing was run
     */
    @CheckReturnValue
    public OnceResult run(Duration wait, OnceAction action) throws InterruptedException {
        Durations.checkWait(Objects.requireNonNull(wait, "wait"));
        Optional<Skipped> skipped = decide(journal.read()).skipped();
        if (skipped.isPresent()) {
            return skipped.get();
        }
        Optional<Hold> hold = lock.tryAcquire(wait);
        return run(hold, hold.isEmpty() ? journal.read() : read(hold.get()), action);
    }

    /**
     * The last run that is recorded; empty if there is none, or it is no longer kept.
     *
     * @throws HoldfastException if the store does not answer or refuses, or the record cannot be read
     */
    public Optional<OnceRun> last() {
        return Optional.ofNullable(journal.last(journal.read())).map(OnceRecord::run);
    }

    /**
     * Removes the record of the last run. The next call of {@link #run} runs the work, also in a period that was done.
     * This helps if a record wrongly prevents a run, for example after the store's clock was set far ahead for a while.
     * A record that cannot be read is removed as well.
     *
     * <pre>{@code
     * if (!client.once("report").forget()) {
     *     System.out.println("the report is being written now");
     * }
     * }</pre>
     *
     * @return false if the work is running, or its lock is held otherwise; then nothing has changed
     * @throws HoldfastException as {@link DistributedLock#tryAcquire()}, or if the store does not answer or refuses
     */
    @CheckReturnValue
    public boolean forget() {
        Optional<Hold> hold = lock.tryAcquire();
        hold.ifPresent(held -> {
            try {
                journal.remove(held);
            } finally {
                giveBack(held);
            }
        });
        return hold.isPresent();
    }

    private RecordReading read(Hold hold) {
        try {
            return journal.read();
        } catch (RuntimeException | Error failed) {
            giveBack(hold);
            throw failed;
        }
    }

    private OnceResult run(Optional<Hold> acquired, RecordReading seen, OnceAction action) {
        if (acquired.isEmpty()) {
            Optional<OnceRun> running = Optional.ofNullable(journal.last(seen))
                    .map(OnceRecord::run)
                    .filter(run -> run.state() == State.BEGUN);
            return new Skipped(name(), Skipped.Why.RUNNING, running, Optional.empty());
        }
        Hold hold = acquired.get();
        OnceResult result;
        try {
            result = new OnceAttempt(journal, plan, hold, action).run(seen);
        } catch (Throwable failed) { // also what is neither an exception nor an error
            giveBack(hold);
            throw failed;
        }
        Optional<Loss> loss = giveBack(hold);
        return result instanceof Ran ran ? new Ran(ran.run(), loss) : result;
    }

    private static Optional<Loss> giveBack(Hold hold) {
        try {
            hold.close();
            return Optional.empty();
        } catch (HoldLostException lost) {
            return Optional.of(lost.loss());
        }
    }

    private Decision decide(RecordReading seen) {
        return plan.decide(seen, journal.last(seen), false);
    }

    @Override
    public String toString() {
        return "Once[" + name() + " on " + engine.storeDescription() + "]";
    }
}
