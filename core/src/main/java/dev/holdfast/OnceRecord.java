package dev.holdfast;

import dev.holdfast.OnceResult.Skipped;
import dev.holdfast.OnceResult.Skipped.Why;
import dev.holdfast.OnceRun.State;
import dev.holdfast.Schedule.Period;
import dev.holdfast.internal.Log;
import dev.holdfast.spi.StoredRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The record that {@link Once} keeps of a name, as text: fields between tabs, the layout version first.
 *
 * @param run the last run
 * @param keep how long its key is kept after its end; zero where it ran for a period
 * @param lastDone the last period that is done, of this run or one before it
 */
record OnceRecord(OnceRun run, Duration keep, Optional<Period> lastDone) {
    private static final String LAYOUT = "1";
    private static final int FIELDS = 13;
    private static final int LONGEST_FAILURE = 200;
    private static final String SEPARATOR = "\t";
    private static final String ELLIPSIS = "...";
    private static final Pattern ESCAPE = Pattern.compile("\\\\u([0-9a-f]{4})");

    /** The value in the store, written at the moment when the run began or ended: the store's clock says when. */
    String encode() {
        return encode(run.state() == State.BEGUN ? "" : text(run.began()), "");
    }

    /** The value in the store, written later than the run began or ended. */
    String encodeRestored() {
        return encode(text(run.began()), run.ended().map(OnceRecord::text).orElse(""));
    }

    private String encode(String began, String ended) {
        return String.join(
                SEPARATOR,
                LAYOUT,
                run.state().name(),
                start(run.period()),
                end(run.period()),
                Long.toString(keep.toMillis()),
                began,
                ended,
                start(lastDone),
                end(lastDone),
                Long.toString(run.who().pid()),
                escaped(run.who().host()),
                escaped(run.who().label()),
                escaped(run.failure()));
    }

    /** A text in ASCII alone: a database may know no other characters. A backslash begins what is not. */
    private static String escaped(String text) {
        StringBuilder ascii = new StringBuilder();
        for (char c : clean(text).toCharArray()) {
            if (c > '~' || c == '\\') {
                ascii.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                ascii.append(c);
            }
        }
        return ascii.toString();
    }

    private static String unescaped(String ascii) {
        return ESCAPE.matcher(ascii)
                .replaceAll(code ->
                        Matcher.quoteReplacement(Character.toString((char) Integer.parseInt(code.group(1), 16))));
    }

    /**
     * Reads a stored record.
     *
     * @throws StoreRefusedException if it was written by a newer version, or by something else
     */
    static OnceRecord decode(StoredRecord stored) {
        String[] field = stored.value().split(SEPARATOR, -1);
        try {
            if (field.length < FIELDS || !field[0].equals(LAYOUT)) {
                throw new IllegalArgumentException("layout " + field[0]);
            }
            State state = State.valueOf(field[1]);
            Optional<Period> period = period(field[2], field[3]);
            Duration keep = Duration.ofMillis(Long.parseLong(field[4]));
            Instant writtenAt = stored.writtenAt();
            Optional<Instant> ended =
                    state == State.BEGUN ? Optional.empty() : Optional.of(instant(field[6], writtenAt));
            OnceRun run = new OnceRun(
                    stored.name(),
                    state,
                    stored.token(),
                    new Holder(unescaped(field[10]), Long.parseLong(field[9]), "", unescaped(field[11])),
                    period,
                    instant(field[5], writtenAt),
                    ended,
                    period.map(Period::end).or(() -> ended.map(at -> at.plus(keep))),
                    unescaped(field[12]));
            return new OnceRecord(run, keep, period(field[7], field[8]));
        } catch (RuntimeException unreadable) {
            throw new StoreRefusedException(
                    "the record of '" + stored.name()
                            + "' cannot be read: a newer version of Holdfast, or another program,"
                            + " wrote it; update this client",
                    unreadable);
        }
    }

    /** The end of this run. */
    OnceRecord ended(@Nullable Throwable failure) {
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
                failure == null ? "" : clean(text(failure)));
        return new OnceRecord(ended, keep, isDone ? run.period() : lastDone);
    }

    /** Failures of Holdfast explain themselves. */
    private static String text(Throwable failure) {
        return failure instanceof HoldfastException ours ? String.valueOf(ours.getMessage()) : FailureText.of(failure);
    }

    /** The run that is stored; empty, and logged, if it cannot be read: one such record does not hide the others. */
    static Optional<OnceRun> read(StoredRecord stored) {
        try {
            return Optional.of(decode(stored).run());
        } catch (StoreRefusedException unreadable) {
            Log.warn(() -> String.valueOf(unreadable.getMessage()));
            return Optional.empty();
        }
    }

    /**
     * The reason to run nothing.
     *
     * @param asked the period that is asked for; empty if it runs once for a key
     * @param alone whether the caller holds the lock, so that a run without an end has crashed
     */
    Optional<Skipped> whyNot(OnceOptions options, Instant now, @Nullable Period asked, boolean alone) {
        Instant next = run.began().plus(options.atLeast());
        if (lastDone.isPresent()
                && asked != null
                && asked.start().isBefore(lastDone.get().end())) {
            boolean byLast = run.state() == State.DONE;
            return skipped(Why.DONE, byLast, lastDone.map(Period::end));
        }
        if (covers(now, asked)) {
            if (run.state() == State.DONE) {
                return skipped(Why.DONE, true, run.until());
            }
            if (run.state() == State.FAILED && !options.retryFailed()) {
                return skipped(Why.FAILED, true, run.until());
            }
            if (run.state() == State.BEGUN && alone && !options.retryCrashed()) {
                return skipped(Why.BEGUN, true, run.until());
            }
        }
        if (now.isBefore(next) && (alone || run.state() != State.BEGUN)) {
            return skipped(Why.TOO_SOON, true, Optional.of(next));
        }
        return Optional.empty();
    }

    /** Whether the last run was for what is asked for now. */
    private boolean covers(Instant now, @Nullable Period asked) {
        if (asked != null && run.period().isPresent()) {
            return asked.start().isBefore(run.period().get().end());
        }
        return run.until().map(now::isBefore).orElse(true);
    }

    /** The moment up to which periods are done or will not be run again. */
    Optional<Instant> settledUntil(OnceOptions options) {
        boolean given = run.state() == State.FAILED && !options.retryFailed()
                || run.state() == State.BEGUN && !options.retryCrashed();
        // Where none is done yet, those before the first run: its own is still due.
        return given
                ? run.period().map(Period::end)
                : lastDone.map(Period::end).or(() -> run.period().map(Period::start));
    }

    private Optional<Skipped> skipped(Why why, boolean byLast, Optional<Instant> until) {
        return Optional.of(new Skipped(run.name(), why, byLast ? Optional.of(run) : Optional.empty(), until));
    }

    private static String start(Optional<Period> period) {
        return period.map(Period::start).map(OnceRecord::text).orElse("");
    }

    private static String end(Optional<Period> period) {
        return period.map(Period::end).map(OnceRecord::text).orElse("");
    }

    private static Optional<Period> period(String start, String end) {
        return start.isEmpty() ? Optional.empty() : Optional.of(new Period(instant(start), instant(end)));
    }

    private static String text(Instant moment) {
        return Long.toString(moment.toEpochMilli());
    }

    private static Instant instant(String millis) {
        return Instant.ofEpochMilli(Long.parseLong(millis));
    }

    private static Instant instant(String millis, Instant unlessSaid) {
        return millis.isEmpty() ? unlessSaid : instant(millis);
    }

    /** One line of bounded length. */
    static String clean(String text) {
        String shown = text.length() <= LONGEST_FAILURE
                ? text
                : text.substring(0, LONGEST_FAILURE - ELLIPSIS.length()) + ELLIPSIS;
        return shown.replaceAll("\\p{Cntrl}|\\p{Cs}", " ");
    }
}
