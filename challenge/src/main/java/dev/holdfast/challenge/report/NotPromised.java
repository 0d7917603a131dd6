package dev.holdfast.challenge.report;

import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import java.util.Optional;
import java.util.Set;

/** What a lock's own documentation does not exclude. */
final class NotPromised {
    private static final Set<String> OUTLASTING_A_LEASE = Set.of("pause-holder", "partition");

    private NotPromised() {}

    /** Why a check may find something in that cell; empty where it may not. */
    static Optional<String> why(LockKind lock, Cell cell, String check) {
        boolean outlasts = OUTLASTING_A_LEASE.contains(cell.fault());
        if (outlasts && check.equals("register")) {
            return Optional.of("no check before a write can keep a pause from coming between the two");
        }
        if (outlasts && lock.role() == Role.PEER && check.equals("exclusive")) {
            return Optional.of("a holder is not told that its lease or session has ended");
        }
        return Optional.empty();
    }
}
