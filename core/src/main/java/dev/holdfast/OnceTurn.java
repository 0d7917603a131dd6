package dev.holdfast;

import dev.holdfast.Schedule.Period;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The lock under which the work of {@link Once} runs, and the period it runs for.
 *
 * <pre>{@code
 * once.run(turn -> reports.write(turn.period().orElseThrow().start(), turn.token()));
 * }</pre>
 *
 * <p>Valid until the work returns. Thread-safe.
 */
public final class OnceTurn {
    private final Hold hold;
    private final OnceRun run;
    private final Optional<Period> lastDone;

    OnceTurn(Hold hold, OnceRun run, Optional<Period> lastDone) {
        this.hold = hold;
        this.run = run;
        this.lastDone = lastDone;
    }

    /** The name of the work. */
    public String name() {
        return run.name();
    }

    /** The fencing token; see {@link Hold#token()}. */
    public long token() {
        return hold.token();
    }

    /** The random id of the hold; see {@link Hold#id()}. */
    public String holdId() {
        return hold.id();
    }

    /** The period it runs for; empty if it runs once for a key. */
    public Optional<Period> period() {
        return run.period();
    }

    /**
     * The last period before this one that is recorded as done, so that the work can make up for those between them by
     * itself; empty if there is none, or it runs once for a key.
     */
    public Optional<Period> lastDone() {
        return lastDone;
    }

    /** Whether no other process can have begun; see {@link Hold#isValid()}. */
    public boolean isValid() {
        return hold.isValid();
    }

    /** Runs an action once when the lock is lost while the work runs; see {@link Hold#onLost}. */
    public void onLost(Consumer<Loss> action) {
        hold.onLost(action);
    }

    @Override
    public String toString() {
        return "OnceTurn[" + name() + ", token " + token() + (isValid() ? "]" : ", not valid]");
    }
}
