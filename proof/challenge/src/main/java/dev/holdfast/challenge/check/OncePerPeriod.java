package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.tck.History.Ending;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The job of a period is finished once at most. */
public record OncePerPeriod() implements Check {
    @Override
    public String id() {
        return "once";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        List<Violation> found = new ArrayList<>();
        Map<Long, Turn> finished = new HashMap<>();
        for (Turn turn : history.turns()) {
            if (turn.isHold() && turn.ending() == Ending.CLOSED) {
                Turn other = finished.put(turn.scope(), turn);
                if (other != null) {
                    found.add(new Violation(
                            id(), "the period " + turn.scope() + " was done twice", List.of(other, turn)));
                }
            }
        }
        return found;
    }
}
