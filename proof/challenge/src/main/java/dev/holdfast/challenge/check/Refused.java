package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.tck.History.Ending;
import java.util.List;

/** The register that checks tokens takes the write of each holder that held to its end. */
public record Refused() implements Check {
    @Override
    public String id() {
        return "refused";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        return history.turns().stream()
                .filter(turn -> turn.outcome() == Outcome.REFUSED && turn.ending() == Ending.CLOSED)
                .map(turn -> new Violation(
                        id(), "a holder that held to its end was refused with token " + turn.token(), List.of(turn)))
                .toList();
    }
}
