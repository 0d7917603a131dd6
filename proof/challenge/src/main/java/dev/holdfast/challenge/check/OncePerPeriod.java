package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.tck.History.Ending;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The job of a period is done once at most, also where a run is recorded as done after its lock was lost. */
public record OncePerPeriod() implements Check {
    @Override
    public String id() {
        return "once";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        List<Violation> found = new ArrayList<>();
        Map<Long, Turn> done = new HashMap<>();
        for (Turn turn : history.turns()) {
            if (turn.isHold() && isDone(turn)) {
                Turn other = done.put(turn.scope(), turn);
                if (other != null) {
                    found.add(new Violation(
                            id(), "the period " + turn.scope() + " was done twice", List.of(other, turn)));
                }
            }
        }
        return found;
    }

    private static boolean isDone(Turn turn) {
        return turn.ending() == Ending.CLOSED || turn.outcome() == Outcome.ACCEPTED;
    }
}
