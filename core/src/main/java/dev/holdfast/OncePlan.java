package dev.holdfast;

import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.Schedule.Period;
import dev.holdfast.internal.Log;
import dev.holdfast.spi.RecordReading;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The decision of {@link Once} about a record that was read: which period is to be run, or why none. Thread-safe. */
final class OncePlan {
    private final String name;
    private final String store;
    private final OnceOptions options;
    private final Duration longestGap;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * The plan of one piece of work.
     *
     * @param longestGap missed periods that are older are not made up for
     */
    OncePlan(String name, String store, OnceOptions options, Duration longestGap) {
        this.name = name;
        this.store = store;
        this.options = options;
        this.longestGap = longestGap;
    }

    /**
     * A period to be run, or the reason to run nothing.
     *
     * @param skipped the reason
     * @param period the period that is due; null if it runs once for a key
     * @param last the last run; null if none is recorded
     */
    record Decision(
            Optional<Skipped> skipped,
            @Nullable Period period,
            @Nullable OnceRecord last) {}

    /**
     * Decides.
     *
     * @param last the last run; null if none is recorded
     * @param alone whether the caller holds the lock, so that a run without an end has crashed
     */
    Decision decide(RecordReading seen, @Nullable OnceRecord last, boolean alone) {
        Period period = options.periodAt(seen.now()).orElse(null);
        if (last == null) {
            return new Decision(Optional.empty(), period, null);
        }
        if (period != null) {
            warnOfAnotherPeriod(last, period);
            period = options.makeUp() ? oldestMissed(last, period, seen.now()) : period;
        }
        return new Decision(last.whyNot(options, seen.now(), period, alone), period, last);
    }

    /** The first period after what is done; the present one if none was missed. */
    private Period oldestMissed(OnceRecord last, Period present, Instant now) {
        Instant settled = last.settledUntil(options).orElse(present.start());
        Instant oldest = now.minus(longestGap);
        Schedule schedule = options.schedule().orElseThrow();
        Period missed = OnceOptions.checked(schedule, settled.isBefore(oldest) ? oldest : settled);
        if (missed.start().isBefore(settled)) {
            missed = OnceOptions.checked(schedule, missed.end());
        }
        return missed.start().isBefore(present.start()) ? missed : present;
    }

    private void warnOfAnotherPeriod(OnceRecord last, Period period) {
        boolean differs = last.run()
                .period()
                .map(other -> other.overlaps(period) && !other.equals(period))
                .orElse(true);
        if (differs && warned.compareAndSet(false, true)) {
            Log.warn(() -> "'" + name + "' on " + store + " was last run by "
                    + last.run().who() + " for "
                    + last.run().period().map(other -> "the period " + other).orElse("a key")
                    + ", and is asked here for "
                    + period + ": programs that run the same work use the same schedule");
        }
    }
}
