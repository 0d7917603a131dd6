package dev.holdfast.challenge.report;

import dev.holdfast.challenge.check.Check;
import dev.holdfast.challenge.check.Check.Violation;
import dev.holdfast.challenge.check.Exclusion;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.tck.History.Ending;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All that was seen of one cell: one lock, one workload, one fault. Not thread-safe. */
public final class Row {
    /**
     * One in twenty runs of a lock that fails in this share of the events would have shown nothing: the rule of three. Locks
     * that one event bites together are no trials of their own.
     */
    private static final double RULE_OF_THREE = 300;

    private final Cell cell;
    private final LockKind lock;
    private final Map<String, Integer> violations = new TreeMap<>();
    private final Map<String, Integer> broken = new TreeMap<>();
    private final Set<Long> events = new HashSet<>();
    private final Map<Ending, Long> endings = new EnumMap<>(Ending.class);
    private long bitten;
    private long missed;
    private long turns;
    private long failedCalls;
    private long naive;
    private long seen;
    private @Nullable LaneHistory worst;
    private List<Violation> shown = List.of();
    private String file = "";

    Row(Cell cell, LockKind lock) {
        this.cell = cell;
        this.lock = lock;
    }

    void add(LaneHistory history) {
        List<Violation> found = Check.judge(history);
        bitten += history.bitten();
        missed += history.bites().size() - history.bitten();
        turns += history.turns().size();
        naive += Exclusion.naiveOverlaps(history);
        found.forEach(violation -> violations.merge(violation.check(), 1, Integer::sum));
        List<Violation> unexcused = found.stream()
                .filter(violation -> !NotPromised.excuses(lock, history, violation))
                .toList();
        history.bites().stream().filter(Bite::bit).forEach(bite -> events.add(bite.healed()));
        history.turns().stream()
                .filter(turn -> turn.isHold() && turn.left() != 0)
                .forEach(turn -> endings.merge(turn.ending(), 1L, Long::sum));
        failedCalls += history.turns().stream()
                .filter(turn -> !turn.isHold() && turn.left() != 0 && turn.ending() == Ending.UNKNOWN)
                .count();
        seen += found.stream()
                .map(violation -> biteBefore(history, violation))
                .distinct()
                .count();
        if (shown.isEmpty() || (broken.isEmpty() && !unexcused.isEmpty())) {
            worst = history;
            shown = unexcused.isEmpty() ? found : unexcused;
        }
        unexcused.forEach(violation -> broken.merge(violation.check(), 1, Integer::sum));
    }

    /** The number of the bite after which it happened. */
    private static long biteBefore(LaneHistory history, Violation violation) {
        long when = violation.turns().stream().mapToLong(Turn::began).max().orElse(Long.MIN_VALUE);
        return history.bites().stream().filter(bite -> bite.began() <= when).count();
    }

    /** Which lock, doing what, under which fault. */
    public Cell cell() {
        return cell;
    }

    /** The lock. */
    public LockKind lock() {
        return lock;
    }

    /** How often it is proven that the fault did something. */
    public long bitten() {
        return bitten;
    }

    /** How many times the fault was made that bit one lock or more. */
    public int events() {
        return events.size();
    }

    /** How many holds were called lost. */
    public long lost() {
        return endings.getOrDefault(Ending.LOST, 0L);
    }

    /** How many releases failed. */
    public long failedReleases() {
        return endings.getOrDefault(Ending.UNKNOWN, 0L);
    }

    /** How many calls for the lock failed. */
    public long failedCalls() {
        return failedCalls;
    }

    /** How often it is not. */
    public long missed() {
        return missed;
    }

    /** After how many bites something was found. */
    public long seen() {
        return seen;
    }

    /** How many turns were taken. */
    public long turns() {
        return turns;
    }

    /** How often holders were together that never looked whether they still held: what a lease does to them. */
    public long naiveOverlaps() {
        return naive;
    }

    /** How often each check found something. */
    public Map<String, Integer> violations() {
        return violations;
    }

    /** How often each check found something that is promised not to happen. */
    public Map<String, Integer> broken() {
        return broken;
    }

    /** The history in which something was found first; the last one where nothing was. */
    public Optional<LaneHistory> history() {
        return Optional.ofNullable(worst);
    }

    /** What was found in it. */
    public List<Violation> shown() {
        return shown;
    }

    /** Where that history is kept; empty when it is not. */
    public String file() {
        return file;
    }

    void keptIn(String place) {
        file = place;
    }

    /** A verdict in words. */
    public Verdict verdict() {
        if (bitten == 0 && violations.isEmpty()) {
            return Verdict.NOT_TESTED;
        }
        if (violations.isEmpty()) {
            return Verdict.HELD;
        }
        return broken.isEmpty() ? Verdict.NOT_PROMISED : Verdict.BROKEN;
    }

    /** The verdict with its figures. */
    public String sentence() {
        return switch (verdict()) {
            case NOT_TESTED -> "NOT TESTED (the fault did not bite in " + missed + " tries)";
            case HELD ->
                "HELD (" + bites() + ", 0 violations; 95 %: fails in less than "
                        + String.format(Locale.ROOT, "%.1f", bound(events())) + " % of events" + endings() + ")";
            case NOT_PROMISED ->
                "NOT PROMISED (" + String.join(", ", violations.keySet()) + "; seen after " + seen + " of " + bitten
                        + " bites" + endings() + ")";
            case BROKEN ->
                "BROKEN (" + counts() + "; seed "
                        + history().map(LaneHistory::seed).orElse(0L) + ")";
        };
    }

    /** Of how many events in a hundred a fault is at most that was seen in none of so many, with 95 % confidence. */
    static double bound(long events) {
        return Math.min(100, RULE_OF_THREE / events);
    }

    /** As "30 events, 90 bites". */
    private String bites() {
        return events() + (events() == 1 ? " event, " : " events, ") + bitten + (bitten == 1 ? " bite" : " bites");
    }

    /** The holds that were called lost and the calls that failed, where there were any. */
    private String endings() {
        return counted(lost(), "holds called lost")
                + counted(failedReleases(), "releases failed")
                + counted(failedCalls, "calls failed");
    }

    private static String counted(long number, String what) {
        return number == 0 ? "" : "; " + number + " " + what;
    }

    /** The checks that the verdict rests on: of a lock that broke a promise, those that show it. */
    Map<String, Integer> decisive() {
        return broken.isEmpty() ? violations : broken;
    }

    /** How often each of these found something, in words. */
    String counts() {
        return String.join(
                ", ",
                decisive().entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue())
                        .toList());
    }

    /** For a wrong lock, the checks that should have found it and did not. */
    public List<String> uncaught() {
        return lock.caught().checks().stream()
                .filter(check -> !violations.containsKey(check))
                .toList();
    }
}
