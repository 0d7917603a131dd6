package dev.holdfast.tck;

import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Mode.Permits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Judges what several processes on one machine saw of one lock or semaphore, in O(n log n) for a few clients.
 *
 * <p>Each hold is stamped by {@link System#nanoTime()}, which the processes of a machine share, before and after each of
 * its two ends:
 *
 * <pre>
 *     asked ───── began ═══════════════ leaving ───── left
 *           the acquire │ surely held             │ the release
 *           took effect                           took effect
 *           in between                            in between
 * </pre>
 *
 * <ul>
 *   <li><b>Exclusion</b>: the times in which holders believed that they held are disjoint where their modes conflict: a
 *       writer is alone, readers are beside readers, and permits are never more than there are. Believing is {@code
 *       isValid()}: a hold that was closed in time was valid until {@code leaving}, one that was lost or whose holder was
 *       killed until it last looked.
 *   <li><b>Tokens</b>: taken in the order of their tokens, the moments at which exclusive holds began and ended can be
 *       chosen, within their stamps, so that they follow one another. Who asked when a conflicting hold had begun has the
 *       higher token. No two are the same, but those of readers.
 * </ul>
 *
 * <p>Immutable.
 */
public final class History {
    private static final int MOST_TOLD = 10;

    /** How a hold ended. */
    public enum Ending {
        /** By its close. */
        CLOSED,
        /** Its holder learned that it was lost. */
        LOST,
        /** Its holder was never heard of again. */
        UNKNOWN
    }

    /**
     * One hold of the lock.
     *
     * @param who its holder, for people to read
     * @param mode how it was held
     * @param token its fencing token
     * @param asked before the acquire
     * @param began after the acquire
     * @param lastValid before the last call of {@code isValid()} that said yes, or {@code began} if there was none
     * @param leaving before the close; of no account when it is unknown
     * @param left after the close; of no account when it is unknown
     * @param ending how it ended
     */
    public record Held(
            String who,
            Mode mode,
            long token,
            long asked,
            long began,
            long lastValid,
            long leaving,
            long left,
            Ending ending) {

        /** Until when its holder surely believed that it was valid. */
        public long validUntil() {
            return ending == Ending.CLOSED ? leaving : Math.max(began, lastValid);
        }

        /** Until when a holder that never looks would have believed it: its close. */
        long naiveUntil() {
            return ending == Ending.UNKNOWN ? Math.max(began, lastValid) : leaving;
        }

        private boolean fitsBeside(Collection<Held> others) {
            if (mode instanceof Permits wanted) {
                int out = others.stream()
                        .mapToInt(other -> other.mode instanceof Permits some ? some.permits() : wanted.of())
                        .sum();
                return out + wanted.permits() <= wanted.of();
            }
            return others.isEmpty() || (isReading() && others.stream().allMatch(Held::isReading));
        }

        private boolean isReading() {
            return mode instanceof Mode.Shared;
        }

        private boolean isAlone() {
            return mode instanceof Mode.Exclusive;
        }
    }

    /** What a history is judged by. */
    public enum Rule {
        /** Nobody is beside a holder that excludes it. */
        EXCLUSION,
        /** Tokens are distinct, and who asks when a conflicting hold has begun gets a higher one. */
        TOKENS,
        /** The moments at which holds began and ended can be chosen so that holds follow one another by their tokens. */
        ORDER
    }

    /** Until when a holder is taken to believe that it holds. */
    public enum Belief {
        /** As long as {@code isValid()} says so. */
        VALID,
        /** Until its close: a holder that never looks. */
        NAIVE
    }

    /**
     * What must not have happened and did.
     *
     * @param rule what was broken
     * @param one the hold that began later, or has the higher token
     * @param others those that it should not have been beside, after or before
     * @param text the same in a sentence
     */
    public record Violation(Rule rule, Held one, List<Held> others, String text) {}

    private final List<Held> holds;

    private History(List<Held> holds) {
        this.holds = holds;
    }

    /** The history of these holds, in any order. */
    public static History of(Collection<Held> holds) {
        return new History(List.copyOf(holds));
    }

    /** All its holds, in the order in which they began. */
    public List<Held> holds() {
        return sortedBy(Held::began);
    }

    /** The first of what must not have happened and did, one sentence each; empty when the lock did what it should. */
    public List<String> violations() {
        return told(judge(Belief.VALID));
    }

    /** All that must not have happened and did; tokens are judged by {@link Belief#VALID} alone. */
    public List<Violation> judge(Belief belief) {
        if (belief == Belief.NAIVE) {
            return overlaps(Held::naiveUntil);
        }
        List<Violation> found = new ArrayList<>(overlaps(Held::validUntil));
        found.addAll(tokensTwice());
        found.addAll(tokensOutOfOrder());
        found.addAll(tokensBelowEarlierOnes());
        return found;
    }

    /**
     * Where those would have been inside at once who must not, if holders never looked at {@code isValid()} and nobody
     * checked tokens: what any lock with a lease does to a holder that was stopped.
     */
    public List<String> naiveOverlaps() {
        return told(judge(Belief.NAIVE));
    }

    private static List<String> told(List<Violation> found) {
        return found.stream().limit(MOST_TOLD).map(Violation::text).toList();
    }

    private List<Violation> overlaps(ToLongFunction<Held> until) {
        List<Violation> found = new ArrayList<>();
        List<Held> inside = new ArrayList<>();
        for (Held hold : sortedBy(Held::began)) {
            inside.removeIf(earlier -> until.applyAsLong(earlier) <= hold.began());
            if (!hold.fitsBeside(inside)) {
                found.add(violation(Rule.EXCLUSION, "held at once", hold, inside));
            }
            inside.add(hold);
        }
        return found;
    }

    private List<Violation> tokensTwice() {
        List<Violation> found = new ArrayList<>();
        Map<Long, Held> seen = new HashMap<>();
        for (Held hold : sortedBy(Held::began)) {
            Held same = seen.put(hold.token(), hold);
            if (same != null && !(same.isReading() && hold.isReading())) {
                found.add(violation(Rule.TOKENS, "the same token", hold, List.of(same)));
            }
        }
        return found;
    }

    private List<Violation> tokensOutOfOrder() {
        List<Violation> found = new ArrayList<>();
        long point = Long.MIN_VALUE;
        Held previous = null;
        for (Held hold : sortedBy(Held::token)) {
            if (!hold.isAlone()) {
                continue;
            }
            point = Math.max(point, hold.asked());
            if (point > hold.began()) {
                found.add(violation(Rule.ORDER, "began before one with a lower token", hold, optional(previous)));
            }
            if (hold.ending() == Ending.CLOSED) {
                point = Math.max(point, hold.leaving());
                if (point > hold.left()) {
                    found.add(violation(
                            Rule.ORDER, "ended before one with a lower token began", hold, optional(previous)));
                }
            }
            previous = hold;
        }
        return found;
    }

    /** Writers are compared with all, readers with writers; permits conflict with nobody in particular. */
    private List<Violation> tokensBelowEarlierOnes() {
        List<Violation> found = new ArrayList<>();
        List<Held> begun = sortedBy(Held::began);
        Held highest = null;
        Held highestAlone = null;
        int next = 0;
        for (Held hold : sortedBy(Held::asked)) {
            for (; next < begun.size() && begun.get(next).began() <= hold.asked(); next++) {
                Held earlier = begun.get(next);
                highest = higher(highest, earlier);
                highestAlone = earlier.isAlone() ? higher(highestAlone, earlier) : highestAlone;
            }
            Held before = hold.isReading() ? highestAlone : highest;
            if (before != null && before.token() > hold.token() && !(hold.mode() instanceof Permits)) {
                found.add(
                        violation(Rule.TOKENS, "asked after one with a higher token had begun", hold, List.of(before)));
            }
        }
        return found;
    }

    private static Held higher(@Nullable Held one, Held other) {
        return one != null && one.token() > other.token() ? one : other;
    }

    private List<Held> sortedBy(ToLongFunction<Held> key) {
        return holds.stream().sorted(Comparator.comparingLong(key)).toList();
    }

    private static Violation violation(Rule rule, String what, Held one, List<Held> others) {
        return new Violation(rule, one, List.copyOf(others), what + ": " + others + " and " + one);
    }

    private static List<Held> optional(@Nullable Held hold) {
        return hold == null ? List.of() : List.of(hold);
    }
}
