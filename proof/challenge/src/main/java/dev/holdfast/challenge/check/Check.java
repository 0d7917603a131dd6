package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.workload.Workloads;
import java.util.List;
import java.util.stream.Stream;

/** A promise that a history can break. */
public interface Check {
    /** A word for it, as {@code exclusive}. */
    String id();

    /** Where it is broken; in O(n log n) for n turns and a few workers. */
    List<Violation> violations(LaneHistory history);

    /**
     * A promise broken.
     *
     * @param check which, by its word
     * @param text what happened, in a sentence
     * @param turns the turns that should not be so
     */
    record Violation(String check, String text, List<Turn> turns) {}

    /** All that the history of a workload must pass. */
    static List<Check> of(String workload) {
        return Stream.concat(
                        Workloads.of(workload).checks().stream(),
                        Stream.of(new Liveness(), new NoResidue(), Kept.holds(), Kept.calls()))
                .toList();
    }

    /** All that a history breaks. */
    static List<Violation> judge(LaneHistory history) {
        return of(history.cell().workload()).stream()
                .flatMap(check -> check.violations(history).stream())
                .toList();
    }
}
