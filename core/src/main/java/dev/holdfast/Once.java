package dev.holdfast;

import dev.holdfast.OncePlan.Decision;
import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Ran;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceRun.State;
import dev.holdfast.Schedule.Period;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.LockName;
import dev.holdfast.internal.Records;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One of several servers runs a piece of work, the others skip it: once in each period, or once for a key.
 *
 * <pre>{@code
 * Once report = client.once("report", OnceOptions.every(Duration.ofHours(1)));
 * OnceResult result = report.run(turn -> reports.write(turn.token()));       // each server, from its own timer
 * }</pre>
 *
 * <p>A lock alone does not give that: a server that asks after the first has finished would get the lock and run the work
 * again. So a record is kept beside the lock:
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
 *   record "done" or "failed", if t is not below the recorded token
 *        │                                   ── refused: another has begun since ────────► failed
 *   release the lock
 * </pre>
 *
 * <p>The store's clock decides which period it is; the clocks of the clients decide nothing. The lock is the one of the
 * same name ({@link LockClient#lock}), the work has its token, and never do two run at a time while both locks are valid.
 *
 * <p>What is defined besides:
 * <ul>
 *   <li>Work that <b>throws</b> is recorded as failed, and run again when somebody asks in the same period, unless
 *       {@link OnceOptions#retryFailed(boolean)} says otherwise.
 *   <li>Work whose <b>process dies</b> is run again when somebody asks after the lock's lease has ended, unless
 *       {@link OnceOptions#retryCrashed(boolean)} says otherwise.
 *   <li>A period in which <b>nobody asks</b> is missed. {@link OnceTurn#lastDone()} says since when, and
 *       {@link OnceOptions#makeUp(boolean)} runs the missed ones one after another.
 *   <li>Work that takes <b>longer than {@link OnceOptions#atMost()}</b>, or loses its lock otherwise, is not interrupted:
 *       {@link OnceTurn#isValid()} and {@link OnceTurn#onLost} say so. Its end is recorded only if nobody else has begun.
 *   <li>Two programs that <b>disagree about the period</b> never run for periods that overlap; this is logged once.
 * </ul>
 *
 * <p>The record stays for a week after the end of its period, or for as long as its key is kept. Immutable and
 * thread-safe.
 */
public final class Once {
    private static final Duration KEEP = Duration.ofDays(7);
    static final Duration RETRY = Duration.ofMillis(250);

    private final Engine engine;
    private final Records records;
    private final LockName name;
    private final DistributedLock lock;
    private final OnceOptions options;
    private final OncePlan plan;

    Once(Engine engine, LockName name, OnceOptions options) {
        if (!engine.capabilities().records()) {
            throw new UnsupportedByStoreException(engine.storeDescription() + " keeps no records, so '" + name
                    + "' cannot be run once on it: use another store");
        }
        this.engine = engine;
        this.records = engine.records();
        this.name = name;
        this.lock = new DistributedLock(engine, name, options.hold());
        this.options = options;
        this.plan = new OncePlan(name(), engine.storeDescription(), options, KEEP);
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
     * Runs the work if nobody else runs it or has run it. Does not wait for another one.
     *
     * @param action the work; runs on this thread
     * @return what became of it; what the work threw is in {@link Failed}
     * @throws HoldLostException if the lock was lost before the work began
     * @throws StoreUnavailableException if the store did not answer. If the work ran, the message says so; it may be run
     *     again then
     * @throws HoldfastException as {@link DistributedLock#acquire()}, or if the record cannot be read
     */
    @CheckReturnValue
    public OnceResult run(OnceAction action) {
        RecordReading seen = records.read(name);
        Optional<Skipped> skipped = decide(seen, false).skipped();
        if (skipped.isPresent()) {
            return skipped.get();
        }
        return run(lock.tryAcquire(), seen, action);
    }

    /**
     * Waits while another one runs the work, then runs it if that one did not finish it; otherwise as
     * {@link #run(OnceAction)}.
     *
     * @param wait how long to wait for the other one; not negative
     * @throws IllegalArgumentException if {@code wait} is negative
     * @throws InterruptedException if the thread is interrupted before or while waiting; nothing was run
     */
    @CheckReturnValue
    public OnceResult run(Duration wait, OnceAction action) throws InterruptedException {
        Optional<Skipped> skipped = decide(records.read(name), false).skipped();
        if (skipped.isPresent()) {
            return skipped.get();
        }
        Optional<Hold> hold = lock.tryAcquire(wait);
        return run(hold, hold.isEmpty() ? records.read(name) : read(hold.get()), action);
    }

    /**
     * The last run that is recorded; empty if there is none, or it is no longer kept.
     *
     * @throws HoldfastException if the store does not answer or refuses, or the record cannot be read
     */
    public Optional<OnceRun> last() {
        return records.read(name).stored().map(stored -> decoded(stored).run());
    }

    private RecordReading read(Hold hold) {
        try {
            return records.read(name);
        } catch (RuntimeException | Error failed) {
            giveBack(hold);
            throw failed;
        }
    }

    // ---- under the lock ----

    private OnceResult run(Optional<Hold> acquired, RecordReading seen, OnceAction action) {
        if (acquired.isEmpty()) {
            Optional<OnceRun> running =
                    seen.stored().map(stored -> decoded(stored).run()).filter(run -> run.state() == State.BEGUN);
            return new Skipped(name(), Skipped.Why.RUNNING, running, Optional.empty());
        }
        Hold hold = acquired.get();
        OnceResult result;
        try {
            result = runHolding(hold, seen, action);
        } catch (RuntimeException | Error failed) {
            giveBack(hold);
            throw failed;
        }
        Optional<Loss> loss = giveBack(hold);
        return result instanceof Ran ran ? new Ran(ran.run(), loss) : result;
    }

    private OnceResult runHolding(Hold hold, RecordReading first, OnceAction action) {
        RecordReading seen = first;
        while (true) {
            Decision decision = decide(seen, true);
            if (decision.skipped().isPresent()) {
                return decision.skipped().get();
            }
            OnceRecord last = decision.last();
            long revision = seen.stored().map(StoredRecord::revision).orElse(RecordWrite.ABSENT);
            OnceRecord begun = begun(hold, decision.period(), last, seen.now());
            Optional<StoredRecord> written = write(hold, revision, begun);
            if (written.isPresent()) {
                return work(hold, decoded(written.get()), action);
            }
            seen = records.read(name);
            OnceRecord now = seen.stored().map(this::decoded).orElse(null);
            if (now != null && now.run().token() == hold.token() && now.run().state() == State.BEGUN) {
                return work(hold, now, action); // it was written after all, and its first answer was lost
            }
            if (now != null && now.run().token() > hold.token()) { // this lock was lost meanwhile
                return new Skipped(name(), Skipped.Why.RUNNING, Optional.of(now.run()), Optional.empty());
            }
        }
    }

    private OnceRecord begun(Hold hold, @Nullable Period period, @Nullable OnceRecord last, Instant now) {
        OnceRun run = new OnceRun(
                name(),
                State.BEGUN,
                hold.token(),
                records.self(),
                Optional.ofNullable(period),
                now,
                Optional.empty(),
                Optional.empty(),
                "");
        Optional<Period> lastDone = last == null ? Optional.empty() : last.lastDone();
        return new OnceRecord(run, period == null ? options.keep() : Duration.ZERO, lastDone);
    }

    private OnceResult work(Hold hold, OnceRecord begun, OnceAction action) {
        if (!hold.isValid()) { // this process stood still since the lock was granted: another may have it
            hold.close();
            throw new StoreUnavailableException("the lock of '" + name() + "' on " + engine.storeDescription()
                    + " is in doubt, and its work was not begun; try again");
        }
        Exception failure = null;
        try {
            action.run(new OnceTurn(hold, begun.run(), begun.lastDone()));
        } catch (Exception thrown) {
            failure = thrown;
        } catch (Error thrown) {
            recordThen(hold, begun, thrown);
            throw thrown;
        }
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return record(hold, begun, failure);
    }

    private void recordThen(Hold hold, OnceRecord begun, Error thrown) {
        try {
            write(hold, RecordWrite.ANY, ended(begun, thrown));
        } catch (HoldfastException alsoFailed) {
            thrown.addSuppressed(alsoFailed);
        }
    }

    /** Records how the work ended; asks for a lease's time where the store does not answer. */
    private OnceResult record(Hold hold, OnceRecord begun, @Nullable Exception failure) {
        OnceRecord ended = ended(begun, failure);
        Optional<StoredRecord> written = writeRepeatedly(hold, ended, failure);
        OnceRun run = written.map(stored -> decoded(stored).run()).orElse(ended.run());
        if (failure != null) {
            return new Failed(run, failure);
        }
        if (written.isEmpty()) {
            long admitted = admitted(hold);
            return new Failed(run, new StaleTokenException("the record of '" + name() + "'", hold.token(), admitted));
        }
        return new Ran(run, Optional.empty());
    }

    /** The token of whoever has begun since; for a message, which must not fail in its turn. */
    private long admitted(Hold hold) {
        try {
            return records.read(name).stored().map(StoredRecord::token).orElse(hold.token());
        } catch (HoldfastException unknown) {
            return hold.token();
        }
    }

    private OnceRecord ended(OnceRecord begun, @Nullable Throwable failure) {
        OnceRun run = begun.run();
        boolean isDone = failure == null;
        OnceRun ended = new OnceRun(
                run.name(),
                isDone ? State.DONE : State.FAILED,
                run.token(),
                run.who(),
                run.period(),
                run.began(),
                Optional.empty(),
                run.until(),
                isDone ? "" : OnceRecord.clean(text(failure)));
        return new OnceRecord(ended, begun.keep(), isDone ? run.period() : begun.lastDone());
    }

    /** Failures of our own explain themselves. */
    private static String text(@Nullable Throwable failure) {
        return String.valueOf(failure instanceof HoldfastException ours ? ours.getMessage() : failure);
    }

    /** A repetition does no harm: the token alone admits it, and it says the same. */
    private Optional<StoredRecord> writeRepeatedly(Hold hold, OnceRecord ended, @Nullable Exception failure) {
        long end = engine.nanoTime() + options.lease().toNanos();
        for (int tries = 1; ; tries++) {
            try {
                return write(hold, RecordWrite.ANY, ended);
            } catch (StoreUnavailableException unanswered) {
                if ((tries > 1 && engine.nanoTime() - end >= 0) || !pause()) {
                    throw with(failure, new StoreUnavailableException(unrecorded(failure, unanswered), unanswered));
                }
            } catch (HoldfastException refused) {
                throw with(failure, new HoldfastException(unrecorded(failure, refused), refused));
            }
        }
    }

    private String unrecorded(@Nullable Exception failure, HoldfastException why) {
        return "the work of '" + name() + "' ran" + (failure == null ? "" : " and failed")
                + ", which could not be recorded; it may be run again: " + why.getMessage();
    }

    /** What the work threw is not lost where its end cannot be recorded. */
    private static <E extends HoldfastException> E with(@Nullable Exception failure, E thrown) {
        if (failure != null) {
            thrown.addSuppressed(failure);
        }
        return thrown;
    }

    /** False if the thread was interrupted; it stays so. */
    private boolean pause() {
        CountDownLatch over = new CountDownLatch(1);
        engine.after(RETRY, over::countDown);
        try {
            over.await(2 * RETRY.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private Optional<StoredRecord> write(Hold hold, long revision, OnceRecord record) {
        return records.write(new RecordWrite(name.inStore(), hold.token(), revision, record.encode(), keepOf(record)));
    }

    /** As long as the record may decide whether the work is run. */
    private Duration keepOf(OnceRecord record) {
        Duration keep = keepForPeriodOrKey(record);
        return keep.compareTo(options.atLeast()) < 0 ? options.atLeast() : keep;
    }

    private Duration keepForPeriodOrKey(OnceRecord record) {
        Optional<Period> period = record.run().period();
        if (period.isPresent()) {
            Duration twice = period.get().length().multipliedBy(2);
            return KEEP.plus(twice);
        }
        boolean begun = record.run().state() == State.BEGUN;
        return begun && record.keep().compareTo(KEEP) < 0 ? KEEP : record.keep();
    }

    private static Optional<Loss> giveBack(Hold hold) {
        try {
            hold.close();
            return Optional.empty();
        } catch (HoldLostException lost) {
            return Optional.of(lost.loss());
        }
    }

    private Decision decide(RecordReading seen, boolean alone) {
        return plan.decide(seen, seen.stored().map(this::decoded).orElse(null), alone);
    }

    private OnceRecord decoded(StoredRecord stored) {
        return OnceRecord.decode(
                new StoredRecord(name(), stored.token(), stored.revision(), stored.writtenAt(), stored.value()));
    }

    @Override
    public String toString() {
        return "Once[" + name() + " on " + engine.storeDescription() + "]";
    }
}
