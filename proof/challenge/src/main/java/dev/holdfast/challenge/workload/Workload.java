package dev.holdfast.challenge.workload;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.history.Stage;
import dev.holdfast.challenge.history.TurnFile;
import dev.holdfast.challenge.lock.AttackedLock.Grip;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** What holders do with a lock, and what must be true of it afterwards. */
public interface Workload {
    /** A word for it, as {@code plain}. */
    String id();

    /** A word for people to read. */
    String title();

    /** How the next turn holds the lock. */
    default Mode mode(Random random) {
        return Mode.EXCLUSIVE;
    }

    /**
     * How long the next hold lasts at most.
     *
     * @param besidePinned whether another worker stays in its hold
     */
    default Duration longestHold(boolean besidePinned) {
        return Duration.ofMillis(4);
    }

    /** What the holder does first. */
    default void enter(Stage.Lane lane, Grip grip, TurnFile file) {}

    /** What the holder does last; the number is the turn's own. */
    default void leave(Stage.Lane lane, Grip grip, TurnFile file, long number) {}

    /** Whether each worker gets its turn, or one for all. */
    default boolean isForEach() {
        return true;
    }

    /** What its history must pass, besides those that every history must. */
    List<Check> checks();
}
