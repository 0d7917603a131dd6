package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** No two writes follow on the same read: one of them would be lost. */
public record LostUpdates() implements Check {
    @Override
    public String id() {
        return "register";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        List<Violation> found = new ArrayList<>();
        Map<Long, Turn> byRead = new HashMap<>();
        for (Turn turn : history.turns()) {
            if (turn.outcome() == Outcome.ACCEPTED) {
                Turn other = byRead.put(turn.read(), turn);
                if (other != null) {
                    found.add(new Violation(
                            id(), "both read " + turn.read() + " and wrote: one write is lost", List.of(other, turn)));
                }
            }
        }
        return found;
    }
}
