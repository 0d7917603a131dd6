package dev.holdfast.challenge.check;

import dev.holdfast.challenge.history.LaneHistory;
import java.util.List;

/** When all clients are closed, nothing of them is left in the store, nor in their processes. */
public record NoResidue() implements Check {
    @Override
    public String id() {
        return "residue";
    }

    @Override
    public List<Violation> violations(LaneHistory history) {
        return history.residue().stream()
                .map(left -> new Violation(id(), "left behind: " + left, List.of()))
                .toList();
    }
}
