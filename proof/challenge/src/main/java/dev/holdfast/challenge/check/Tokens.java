package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.tck.History.Belief;
import dev.holdfast.tck.History.Rule;
import java.util.List;

/** Tokens of conflicting holds rise with them: the judge of the kit. A lock that has no tokens promises nothing here. */
public record Tokens() implements Check {
    @Override
    public String id() {
        return "tokens";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        if (history.turns().stream().mapToLong(Turn::token).allMatch(token -> token == 0)) {
            return List.of();
        }
        return Exclusion.byTheKit(history, Belief.VALID, Rule.TOKENS, id());
    }
}
