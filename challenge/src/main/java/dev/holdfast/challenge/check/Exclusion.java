package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.tck.History;
import dev.holdfast.tck.History.Belief;
import dev.holdfast.tck.History.Held;
import dev.holdfast.tck.History.Rule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Holders that exclude each other never hold at the same time, by what both were told. Judged as the kit does.
 *
 * @param id how the promise is called for this kind of lock: exclusive, shared or permits
 */
public record Exclusion(String id) implements Check {
    @Override
    public List<Violation> violations(LaneHistory history) {
        return byTheKit(history, Belief.VALID, Rule.EXCLUSION, id);
    }

    /** How often holders were together that never look whether they still hold. */
    public static int naiveOverlaps(LaneHistory history) {
        return byTheKit(history, Belief.NAIVE, Rule.EXCLUSION, "naive").size();
    }

    static List<Violation> byTheKit(LaneHistory history, Belief belief, Rule rule, String check) {
        Map<Held, Turn> turns = new HashMap<>();
        history.turns().stream().filter(Turn::isHold).forEach(turn -> turns.put(turn.toHeld(), turn));
        return History.of(turns.keySet()).judge(belief).stream()
                .filter(violation -> violation.rule() == rule)
                .map(violation -> new Violation(
                        check,
                        violation.text(),
                        Stream.concat(violation.others().stream(), Stream.of(violation.one()))
                                .map(held -> Objects.requireNonNull(turns.get(held)))
                                .toList()))
                .toList();
    }
}
