package dev.holdfast.challenge.report;

import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import java.util.Optional;
import java.util.Set;

/** What a lock's own documentation does not exclude. */
final class NotPromised {
    private static final Set<String> OUTLASTING_A_LEASE = Set.of("pause-holder", "partition");

    /** Two writers lose an update where nothing checks tokens. */
    private static final Set<String> TOGETHER = Set.of("exclusive", "shared", "permits", "register");

    /** Those that wait until a replica has the grant. */
    private static final Set<String> CONFIRMED = Set.of("holdfast-acks", "redisson-fenced-checked");

    private NotPromised() {}

    /** Why a check may find something in that cell; empty where it may not. */
    static Optional<String> why(LockKind lock, Cell cell, String check) {
        boolean exclusion = TOGETHER.contains(check);
        boolean outlasts = OUTLASTING_A_LEASE.contains(cell.fault());
        if (outlasts && check.equals("register")) {
            return Optional.of("no check before a write can keep a pause from coming between the two");
        }
        if (outlasts && lock.role() == Role.PEER && exclusion) {
            return Optional.of("the library does not tell a holder that its lease or session has ended");
        }
        if (exclusion && cell.fault().equals("kill-server") && cell.store().equals("redis")) {
            return Optional.of("this server keeps nothing over a restart");
        }
        // a double grant shows itself in its tokens too: the higher one ends the write of the lower
        boolean doubleGrant = exclusion || check.equals("tokens") || check.equals("refused");
        if (doubleGrant && cell.fault().equals("failover-unheard") && !CONFIRMED.contains(lock.id())) {
            return Optional.of("a grant that no replica has is lost with the master");
        }
        return Optional.empty();
    }
}
