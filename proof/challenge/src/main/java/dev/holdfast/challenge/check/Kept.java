package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.tck.History.Ending;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * No hold is lost, and no call fails, while nothing is done to the worker or to the store, and all that was done has healed.
 * Without this, a lock that calls each hold lost would pass every other check. A worker is judged when it
 * has held, and all have had the lock since: a new JVM may take longer than a short lease to load the classes of a claim.
 *
 * @param id {@code kept}, for holds; {@code failed}, for calls
 */
public record Kept(String id) implements Check {
    /** A process that stood still for so long, at once or in many short gaps, may have renewed too late. */
    private static final long STOOD_STILL = Duration.ofMillis(200).toNanos();

    /** That no hold is lost. */
    public static Check holds() {
        return new Kept("kept");
    }

    /** That no call fails. */
    public static Check calls() {
        return new Kept("failed");
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        Map<Integer, Long> warm = new HashMap<>();
        history.turns().stream()
                .filter(Turn::isHold)
                .forEach(turn -> warm.merge(turn.worker(), turn.began(), Math::min));
        warm.replaceAll((worker, firstHeld) -> history.obtainedAfter(firstHeld));
        return history.turns().stream()
                .filter(turn -> turn.left() != 0 && (id.equals("kept") ? isLost(turn) : isFailed(turn)))
                .filter(turn -> warm.getOrDefault(turn.worker(), Long.MAX_VALUE) <= turn.asked())
                .filter(turn -> turn.stall() < STOOD_STILL && !history.isStalled(turn) && !history.isAttacked(turn))
                .map(turn -> new Violation(id(), what(turn) + " though nothing was done to it", List.of(turn)))
                .toList();
    }

    /** Said to be lost, or never found valid, or not when it was to write. */
    private static boolean isLost(Turn turn) {
        return turn.isHold()
                && (turn.ending() == Ending.LOST || turn.lastValid() == 0 || turn.outcome() == Outcome.REFUSED);
    }

    private static boolean isFailed(Turn turn) {
        return turn.ending() == Ending.UNKNOWN;
    }

    private String what(Turn turn) {
        if (id.equals("kept")) {
            return "a hold was lost";
        }
        return turn.isHold() ? "the release of a hold failed" : "a call for the lock failed";
    }
}
