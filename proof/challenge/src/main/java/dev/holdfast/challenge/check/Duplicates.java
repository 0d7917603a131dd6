package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.tck.History.Ending;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * No number comes twice that must be different in each turn that counts.
 *
 * @param id {@code register}: no two writes follow on the same read, or one of them would be lost; {@code fence}: the register
 *     that checks tokens takes no stale write, so two accepted writes have different tokens and different reads;
 *     {@code once}: the job of a period is done once at most, also where a run is recorded as done after its lock was lost
 * @param text what happened, before the number
 */
public record Duplicates(String id, Predicate<Turn> counts, ToLongFunction<Turn> number, String text) implements Check {
    /** That no update is lost. */
    public static Check lostUpdates() {
        return new Duplicates(
                "register", Duplicates::isAccepted, Turn::read, "one of two writes is lost, as both had read ");
    }

    /** That no token writes twice. */
    public static Check fencedTokens() {
        return new Duplicates("fence", Duplicates::isAccepted, Turn::token, "two writes accepted with token ");
    }

    /** That no two accepted writes had read the same. */
    public static Check fencedReads() {
        return new Duplicates("fence", Duplicates::isAccepted, Turn::read, "two writes accepted that had read ");
    }

    /** That no period is done twice. */
    public static Check runs() {
        return new Duplicates("once", Duplicates::isDone, Turn::scope, "done twice: the period ");
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        List<Violation> found = new ArrayList<>();
        Map<Long, Turn> seen = new HashMap<>();
        for (Turn turn : history.turns()) {
            if (counts.test(turn)) {
                long its = number.applyAsLong(turn);
                Turn other = seen.put(its, turn);
                if (other != null) {
                    found.add(new Violation(id, text + its, List.of(other, turn)));
                }
            }
        }
        return found;
    }

    private static boolean isAccepted(Turn turn) {
        return turn.outcome() == Outcome.ACCEPTED;
    }

    private static boolean isDone(Turn turn) {
        return turn.isHold() && (turn.ending() == Ending.CLOSED || isAccepted(turn));
    }
}
