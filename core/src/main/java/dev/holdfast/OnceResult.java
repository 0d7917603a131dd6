package dev.holdfast;

import java.time.Instant;
import java.util.Optional;

/**
 * The outcome of a call of {@link Once#run}.
 *
 * <pre>{@code
 * OnceResult result = once.run(turn -> reports.write(turn.token()));
 * if (result instanceof OnceResult.Skipped skipped) {
 *     log.info("skipped: " + skipped.message());
 * }
 * }</pre>
 */
public sealed interface OnceResult {

    /** Whether this call ran the work to its end. */
    default boolean ran() {
        return this instanceof Ran;
    }

    /** One line for people. */
    String message();

    /**
     * The work ran here, ended well, and that is recorded.
     *
     * @param run what is recorded
     * @param loss the loss of the lock, if it was lost before the work had ended; no other process had begun until then
     */
    record Ran(OnceRun run, Optional<Loss> loss) implements OnceResult {
        @Override
        public String message() {
            return "'" + run.name() + "' ran here"
                    + loss.map(lost -> ", although: " + lost.message()).orElse("");
        }
    }

    /**
     * The work did not run here.
     *
     * @param name the name of the work
     * @param why the reason
     * @param by the run that was in the way, if one is known
     * @param until when it may run again; empty if that depends on the end of a run
     */
    record Skipped(String name, Why why, Optional<OnceRun> by, Optional<Instant> until) implements OnceResult {
        /** The reason why nothing ran. */
        public enum Why {
            /** It is done for this period, or for this key. */
            DONE("was already run"),
            /** Another caller holds its lock. */
            RUNNING("is running"),
            /** It failed, and failed work is not run again. */
            FAILED("has failed and is not run again"),
            /** It was begun, nobody holds its lock any more, and begun work is not run again. */
            BEGUN("was begun and is not run again"),
            /** The last run began too short a time ago. */
            TOO_SOON("began too short a time ago");

            private final String text;

            Why(String text) {
                this.text = text;
            }
        }

        @Override
        public String message() {
            return "'" + name + "' " + why.text
                    + by.map(run -> ": by " + run.who() + ", begun " + run.began()
                                    + run.ended().map(at -> ", ended " + at).orElse(""))
                            .orElse("")
                    + until.map(at -> "; again from " + at).orElse("");
        }
    }

    /**
     * The work ran here, and failed, or could not be recorded as done because another run had begun meanwhile.
     *
     * @param run what is recorded, or would have been
     * @param cause what the work threw; a {@link StaleTokenException} where it ended well, but its lock had been lost
     *     and another run had begun
     */
    record Failed(OnceRun run, Exception cause) implements OnceResult {
        @Override
        public String message() {
            return "'" + run.name() + "' failed here: " + FailureText.of(cause);
        }
    }
}
