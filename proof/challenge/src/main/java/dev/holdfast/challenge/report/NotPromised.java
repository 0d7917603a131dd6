package dev.holdfast.challenge.report;

import dev.holdfast.challenge.check.Check.Violation;
import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.lock.LockKind;
import dev.holdfast.challenge.lock.LockKind.Role;
import java.util.Optional;
import java.util.Set;

/** What a lock's own documentation does not exclude. */
final class NotPromised {
    private static final Set<String> OUTLASTING_A_LEASE = Set.of("pause-holder", "partition");

    /** Stores that begin again with nothing. */
    private static final Set<String> FORGETFUL = Set.of("redis", "memcached");

    /**
     * What two holders at a time do: each may lose the other's update, they do not follow one another by their tokens, and a
     * register that checks tokens refuses the older one. Tokens that fall or repeat are never excused.
     */
    private static final Set<String> TOGETHER =
            Set.of("exclusive", "shared", "permits", "register", "order", "refused");

    /** Those that wait until a replica has the grant. */
    private static final Set<String> CONFIRMED = Set.of("holdfast-acks", "redisson-fenced-checked");

    private NotPromised() {}

    /** Whether it is excused: while the fault goes on, and at no other time. */
    static boolean excuses(LockKind lock, LaneHistory history, Violation violation) {
        if (violation.check().equals("failed")) {
            return lock.role() == Role.PEER; // no library says when a call may fail
        }
        boolean isDuringABite = violation.turns().isEmpty() // somebody waited in vain
                ? !history.bites().isEmpty()
                : history.isDuringABite(violation.turns());
        return isDuringABite && why(lock, history.cell(), violation.check()).isPresent();
    }

    /** Why a check may find something in that cell; empty where it may not. */
    private static Optional<String> why(LockKind lock, Cell cell, String check) {
        boolean isPeer = lock.role() == Role.PEER;
        boolean doubleGrant = TOGETHER.contains(check);
        boolean outlasts = OUTLASTING_A_LEASE.contains(cell.fault());
        if (outlasts && check.equals("register")) {
            return Optional.of("no check before a write can keep a pause from coming between the two");
        }
        if ((outlasts || cell.fault().equals("kill-server")) && isPeer && doubleGrant) {
            return Optional.of("the library does not tell a holder that its lease or session has ended");
        }
        if (cell.fault().equals("kill-server") && FORGETFUL.contains(cell.store())) {
            return doubleGrant ? Optional.of("this server keeps nothing over a restart") : Optional.empty();
        }
        if (cell.fault().equals("store-clock") && doubleGrant) {
            return Optional.of("leases run by the clock of the server");
        }
        if (cell.fault().equals("store-clock") && cell.workload().equals("period") && check.equals("liveness")) {
            return Optional.of("so do periods: one that was done before the clock was set back is not due again");
        }
        if (cell.fault().equals("failover-unheard") && doubleGrant && !CONFIRMED.contains(lock.id())) {
            return Optional.of("a grant that no replica has is lost with the master");
        }
        return Optional.empty();
    }
}
