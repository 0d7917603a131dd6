package dev.holdfast;

import dev.holdfast.OnceRun.State;
import dev.holdfast.Schedule.Period;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.Inspection;
import dev.holdfast.internal.LockName;
import dev.holdfast.internal.Log;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The record of one piece of work: how {@link Once} reads and writes it. Thread-safe. */
final class OnceJournal {
    static final Duration KEEP = Duration.ofDays(7);
    static final Duration RETRY = Duration.ofMillis(250);
    static final int TRIES = 100;

    private final Engine engine;
    private final Inspection records;
    private final LockName name;
    private final OnceOptions options;

    OnceJournal(Engine engine, LockName name, OnceOptions options) {
        this.engine = engine;
        this.records = engine.inspection();
        this.name = name;
        this.options = options;
    }

    RecordReading read() {
        return records.readRecord(name);
    }

    /** The last run; null if none is recorded. */
    @Nullable
    OnceRecord last(RecordReading seen) {
        return seen.stored().map(this::decoded).orElse(null);
    }

    OnceRecord decoded(StoredRecord stored) {
        return OnceRecord.decode(
                new StoredRecord(name.name(), stored.token(), stored.revision(), stored.writtenAt(), stored.value()));
    }

    /** A run that begins now. */
    OnceRecord begun(Hold hold, @Nullable Period period, @Nullable OnceRecord last, Instant now) {
        OnceRun run = new OnceRun(
                name.name(),
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

    /** Writes over a revision; empty if the store refused. */
    Optional<StoredRecord> write(Hold hold, long revision, OnceRecord record) {
        return write(hold.token(), revision, record.encode(), keepOf(record));
    }

    private Optional<StoredRecord> write(long token, long revision, String value, Duration keep) {
        return records.writeRecord(new RecordWrite(name.inStore(), token, revision, value, keep));
    }

    /** Undoes a beginning: what was recorded before is recorded again, as it was. */
    void restore(Hold hold, StoredRecord begun, RecordReading before) {
        OnceRecord last = last(before);
        try {
            // It is refused if another has begun since, whose record is right then.
            Optional<StoredRecord> unused = last == null
                    ? write(hold.token(), begun.revision(), begun.value(), Duration.ZERO)
                    : write(hold.token(), begun.revision(), last.encodeRestored(), keepOf(last));
        } catch (HoldfastException failed) {
            Log.warn(() -> "'" + name + "' on " + engine.storeDescription()
                    + " is recorded as begun, though its work was not: " + failed.getMessage());
        }
    }

    /**
     * Removes the record, also one that cannot be read.
     *
     * @throws StoreUnavailableException if the store does not answer
     */
    void remove(Hold hold) {
        for (int tries = 0; tries < TRIES; tries++) {
            StoredRecord stored = read().stored().orElse(null);
            if (stored == null) {
                return;
            }
            if (!hold.isValid()) {
                throw unavailable("was not forgotten: the lock was lost meanwhile");
            }
            long token = Math.max(hold.token(), stored.token());
            if (write(token, stored.revision(), stored.value(), Duration.ZERO).isPresent()) {
                return;
            }
        }
        throw unavailable("was changed by another client at each attempt to remove it");
    }

    /** As long as the record may decide whether the work is run. */
    private Duration keepOf(OnceRecord record) {
        Duration keep = keepForPeriodOrKey(record);
        return keep.compareTo(options.atLeast()) < 0 ? options.atLeast() : keep;
    }

    private static Duration keepForPeriodOrKey(OnceRecord record) {
        Optional<Period> period = record.run().period();
        if (period.isPresent()) {
            Duration twice = period.get().length().multipliedBy(2);
            return KEEP.plus(twice);
        }
        boolean begun = record.run().state() == State.BEGUN;
        return begun && record.keep().compareTo(KEEP) < 0 ? KEEP : record.keep();
    }

    // ---- messages about failures ----

    StoreUnavailableException unavailable(String why) {
        return new StoreUnavailableException(
                "the record of '" + name.name() + "' on " + engine.storeDescription() + " " + why + "; try again");
    }

    String unrecorded(@Nullable Exception failure, HoldfastException why) {
        return "the work of '" + name.name() + "' ran" + (failure == null ? "" : " and failed")
                + "; its end could not be recorded, so it may be run again: " + why.getMessage();
    }

    /**
     * The end of a run was refused. The message is for a result, so the read of the present record must not fail in its
     * turn.
     */
    HoldfastException refused(Hold hold) {
        try {
            Optional<StoredRecord> by = read().stored();
            if (by.isPresent()) {
                return new StaleTokenException(
                        "record of " + name.name(), hold.token(), by.get().token());
            }
            return lostWith("its record is no longer there");
        } catch (HoldfastException unanswered) {
            return lostWith("its record could not be read: " + unanswered.getMessage());
        }
    }

    private StoreRefusedException lostWith(String what) {
        return new StoreRefusedException("the work of '" + name.name() + "' on " + engine.storeDescription()
                + " ran; its end was not recorded, since its lock was lost and " + what + "; it may be run again");
    }

    // ---- trying again ----

    /** A lease's time to try again, from now on. */
    TimeLimit timeLimit() {
        return new TimeLimit(engine.nanoTime() + options.lease().toNanos());
    }

    /** The time for which requests are repeated. For one thread. */
    final class TimeLimit {
        private final long end;
        private boolean pauses;

        private TimeLimit(long end) {
            this.end = end;
        }

        /** Whether to try again; the first time at once, later after a pause. */
        boolean goesOn() {
            boolean first = !pauses;
            pauses = true;
            return first || goesOnAfterPause();
        }

        /** Whether to try again; the first time in any case, unless the thread is interrupted. */
        boolean goesOnAfterPause() {
            boolean over = pauses && engine.nanoTime() - end >= 0;
            pauses = true;
            return !over && pause();
        }
    }

    /** False if the thread was interrupted; its flag stays set. */
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
}
