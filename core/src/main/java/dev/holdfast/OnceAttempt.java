package dev.holdfast;

import dev.holdfast.OncePlan.Decision;
import dev.holdfast.OnceResult.Failed;
import dev.holdfast.OnceResult.Ran;
import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceRun.State;
import dev.holdfast.spi.RecordReading;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.StoredRecord;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@link Once#run} that has the lock: records the beginning, runs the work, records the end.
 *
 * <p>If the store does not answer a write, it may have carried the write out, or may do so later. So the record is
 * read again before the write is repeated. The repeated write names the revision that was read, so the store admits only
 * one copy. It is repeated also over a record that has the token of this hold, and so was written: the store may not have
 * answered because a crash may still undo it, and only the answer to a write promises more. For one thread.
 */
final class OnceAttempt {
    private final OnceJournal journal;
    private final OncePlan plan;
    private final Hold hold;
    private final OnceAction action;

    OnceAttempt(OnceJournal journal, OncePlan plan, Hold hold, OnceAction action) {
        this.journal = journal;
        this.plan = plan;
        this.hold = hold;
        this.action = action;
    }

    /** Goes on from what was read before the lock was acquired. */
    OnceResult run(RecordReading first) {
        OnceJournal.TimeLimit limit = journal.timeLimit();
        RecordReading seen = first;
        RecordReading before = first;
        OnceRecord begun = null;
        StoreUnavailableException unanswered = null; // of the last write that may have been carried out all the same
        while (true) {
            if (begun == null || seen.stored().filter(this::isOwnBeginning).isEmpty()) {
                before = seen;
                OnceRecord last = journal.last(seen);
                Decision decision = plan.decide(seen, last, true);
                if (decision.skipped().isPresent()) {
                    return decision.skipped().get();
                }
                if (last != null && last.run().token() > hold.token()) {
                    return overtaken(last);
                }
                begun = journal.begun(hold, decision.period(), last, seen.now());
            }
            long revision = seen.stored().map(StoredRecord::revision).orElse(RecordWrite.ABSENT);
            Optional<StoredRecord> written = Optional.empty();
            try {
                written = journal.write(hold, revision, begun);
            } catch (StoreUnavailableException lost) {
                unanswered = lost;
            } catch (StoreRefusedException | ClientClosedException refused) {
                if (unanswered != null) {
                    restoreIfBegun(before);
                }
                throw refused;
            }
            if (written.isPresent()) {
                return work(written.get(), before);
            }
            seen = readAgain(limit, before, unanswered);
        }
    }

    private boolean isOwnBeginning(StoredRecord stored) {
        return stored.token() == hold.token() && journal.decoded(stored).run().state() == State.BEGUN;
    }

    /** Another client has had the lock since, so this hold is lost, whether this client knows it or not. */
    private OnceResult overtaken(OnceRecord by) {
        if (by.run().state() == State.BEGUN) {
            return new Skipped(by.run().name(), Skipped.Why.RUNNING, Optional.of(by.run()), Optional.empty());
        }
        throw inDoubt();
    }

    private RecordReading readAgain(
            OnceJournal.TimeLimit limit, RecordReading before, @Nullable StoreUnavailableException unanswered) {
        HoldfastException last = unanswered;
        while (hold.isValid() && limit.goesOn()) {
            try {
                return journal.read();
            } catch (StoreUnavailableException again) {
                last = again;
            } catch (StoreRefusedException refused) {
                if (unanswered == null) {
                    throw refused;
                }
                last = refused; // it may be temporary, and the beginning may have been written
            }
        }
        if (last == null) {
            throw hold.isValid() ? journal.unavailable("was changed by another client at each write") : inDoubt();
        }
        restoreIfBegun(before);
        throw last;
    }

    /** Nothing was begun, whether or not the write whose answer was lost was carried out. */
    private void restoreIfBegun(RecordReading before) {
        try {
            journal.read().stored().filter(this::isOwnBeginning).ifPresent(own -> journal.restore(hold, own, before));
        } catch (HoldfastException away) {
            // the caller's exception already says why
        }
    }

    // ---- the work ----

    private OnceResult work(StoredRecord begun, RecordReading before) {
        OnceRecord record = journal.decoded(begun);
        if (!hold.isValid()) { // this process was stopped after the lock was granted: another may have it
            journal.restore(hold, begun, before);
            throw inDoubt();
        }
        Exception failure = null;
        try {
            action.run(new OnceTurn(hold, record.run(), record.lastDone()));
        } catch (NotBegunException notBegun) {
            if (notBegun.settle()) {
                journal.restore(hold, begun, before);
                throw notBegun;
            }
            failure = notBegun;
        } catch (Exception thrown) {
            failure = thrown;
        } catch (Throwable thrown) { // an Error, or what the work may not declare: Kotlin does not check that
            endAfter(begun, record, thrown);
            throw thrown;
        }
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return ended(begun, record, failure);
    }

    /** Reports the loss if it is known by now. */
    private StoreUnavailableException inDoubt() {
        hold.close();
        return journal.unavailable("was to be written when its lock was in doubt; its work was not begun");
    }

    private void endAfter(StoredRecord begun, OnceRecord record, Throwable thrown) {
        try {
            Object unused = end(begun, record.ended(thrown));
        } catch (HoldfastException alsoFailed) {
            thrown.addSuppressed(alsoFailed);
        }
    }

    /** Records how the work ended; tries for the time of a lease if the store does not answer. */
    private OnceResult ended(StoredRecord begun, OnceRecord record, @Nullable Exception failure) {
        OnceRecord ended = record.ended(failure);
        Optional<StoredRecord> written = endRepeatedly(begun, ended, failure);
        OnceRun run = written.map(stored -> journal.decoded(stored).run()).orElse(ended.run());
        if (failure != null) {
            return new Failed(run, failure);
        }
        return written.isEmpty() ? new Failed(run, journal.refused(hold)) : new Ran(run, Optional.empty());
    }

    private Optional<StoredRecord> endRepeatedly(StoredRecord begun, OnceRecord ended, @Nullable Exception failure) {
        OnceJournal.TimeLimit limit = journal.timeLimit();
        while (true) {
            try {
                return end(begun, ended);
            } catch (StoreUnavailableException unanswered) {
                if (!limit.goesOnAfterPause()) {
                    throw with(
                            failure,
                            new StoreUnavailableException(journal.unrecorded(failure, unanswered), unanswered));
                }
            } catch (StoreRefusedException refused) {
                throw with(failure, new StoreRefusedException(journal.unrecorded(failure, refused), refused));
            } catch (HoldfastException other) {
                throw with(failure, new HoldfastException(journal.unrecorded(failure, other), other));
            }
        }
    }

    /**
     * Records the end over the beginning. If the beginning is no longer there, it was forgotten, or others have run since
     * and their time has passed: only a hold that is still valid shows that there were no others.
     *
     * @return empty if it was refused
     */
    private Optional<StoredRecord> end(StoredRecord begun, OnceRecord ended) {
        long revision = begun.revision();
        for (int tries = 0; tries < OnceJournal.TRIES; tries++) {
            Optional<StoredRecord> written = journal.write(hold, revision, ended);
            if (written.isPresent()) {
                return written;
            }
            StoredRecord now = journal.read().stored().orElse(null);
            if (now == null && !hold.isValid() || now != null && now.token() > hold.token()) {
                return Optional.empty();
            }
            revision = now == null ? RecordWrite.ABSENT : now.revision();
        }
        throw journal.unavailable("was changed by another client at each attempt to record the end");
    }

    /** An exception of the work is not lost if its end cannot be recorded. */
    private static <E extends HoldfastException> E with(@Nullable Exception failure, E thrown) {
        if (failure != null) {
            thrown.addSuppressed(failure);
        }
        return thrown;
    }
}
