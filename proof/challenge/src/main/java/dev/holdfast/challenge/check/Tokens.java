package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.tck.History.Belief;
import dev.holdfast.tck.History.Rule;
import java.util.List;

/**
 * The tokens of conflicting holds, by the judge of the kit. A lock that has no tokens promises nothing here.
 *
 * @param id {@code tokens}: none comes twice, and none is below that of a hold before it; {@code order}: none is below that
 *     of a hold at the same time that began earlier
 */
public record Tokens(String id) implements Check {
    /** That no token comes twice or falls. */
    public static Check rise() {
        return new Tokens("tokens");
    }

    /** That holds follow one another by their tokens. */
    public static Check order() {
        return new Tokens("order");
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        if (history.turns().stream().mapToLong(Turn::token).allMatch(token -> token == 0)) {
            return List.of();
        }
        return Exclusion.byTheKit(history, Belief.VALID, id.equals("order") ? Rule.ORDER : Rule.TOKENS, id);
    }
}
