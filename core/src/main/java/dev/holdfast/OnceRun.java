package dev.holdfast;

import dev.holdfast.Schedule.Period;
import java.time.Instant;
import java.util.Optional;

/**
 * One run of {@link Once}, as the store keeps it. All times are by the store's clock.
 *
 * @param name the name of the work
 * @param state whether it has ended, and how
 * @param token the fencing token under which it ran
 * @param who the client that ran it
 * @param period the period it counts for; empty if it runs once for a key
 * @param began when it began
 * @param ended when it ended; empty while it runs, and when its process died
 * @param until when the period, or the time for which the key is kept, is over; empty while a key's work runs
 * @param failure what went wrong, in a line of 200 characters at most; empty unless it failed
 */
public record OnceRun(
        String name,
        State state,
        long token,
        Holder who,
        Optional<Period> period,
        Instant began,
        Optional<Instant> ended,
        Optional<Instant> until,
        String failure) {

    /** Whether a run has ended, and how. */
    public enum State {
        /** It began, and no end is recorded: it is at work, or its process died. */
        BEGUN,
        /** It ended well. */
        DONE,
        /** It ended with an exception. */
        FAILED
    }
}
