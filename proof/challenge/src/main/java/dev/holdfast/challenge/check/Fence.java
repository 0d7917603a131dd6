package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The register that checks tokens takes no stale write: two accepted writes have different tokens and different reads. */
public record Fence() implements Check {
    @Override
    public String id() {
        return "fence";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        List<Violation> found = new ArrayList<>();
        Map<Long, Turn> byToken = new HashMap<>();
        Map<Long, Turn> byRead = new HashMap<>();
        for (Turn turn : history.turns()) {
            if (turn.outcome() == Outcome.ACCEPTED) {
                add(found, byToken.put(turn.token(), turn), turn, "two writes accepted with token " + turn.token());
                add(found, byRead.put(turn.read(), turn), turn, "two writes accepted that had read " + turn.read());
            }
        }
        return found;
    }

    private void add(List<Violation> found, @org.jspecify.annotations.Nullable Turn other, Turn turn, String text) {
        if (other != null) {
            found.add(new Violation(id(), text, List.of(other, turn)));
        }
    }
}
