package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.tck.History.Ending;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Nobody loses a hold, and no call fails, while nothing is done to the worker or to the store, and all that was done has
 * healed. Without this, a lock that calls each hold lost would pass every other check. A worker is judged from its first hold
 * on: a new JVM may take longer than a short lease to load the classes of a claim.
 */
public record Kept() implements Check {
    /** A process that stood still for so long may have renewed too late. */
    private static final long STOOD_STILL = Duration.ofMillis(200).toNanos();

    @Override
    public String id() {
        return "kept";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        Map<Integer, Long> warm = new HashMap<>();
        history.turns().stream().filter(Turn::isHold).forEach(turn -> warm.merge(turn.worker(), turn.began(), Math::min));
        return history.turns().stream()
                .filter(turn -> warm.getOrDefault(turn.worker(), Long.MAX_VALUE) <= turn.asked())
                .filter(turn -> turn.left() != 0 && turn.ending() != Ending.CLOSED)
                .filter(turn -> turn.stall() < STOOD_STILL && !history.isAttacked(turn))
                .map(turn -> new Violation(id(), what(turn) + " though nothing was done to it", List.of(turn)))
                .toList();
    }

    private static String what(Turn turn) {
        if (!turn.isHold()) {
            return "a call for the lock failed";
        }
        return turn.ending() == Ending.LOST ? "a hold was called lost" : "the release of a hold failed";
    }
}
