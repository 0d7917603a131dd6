package dev.holdfast.redis;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/**
 * The rounds of one claim that were given up, though a member may have granted them: its answer, or the release, got
 * lost with the connection. Such a grant belongs to no client. The next round that meets it ends it; a third of a lease
 * later, the release is sent to all members once more. It is not sent for a round that may have been won under its id
 * since: the first round has the claim's own id, under which a failed claim may be made again. Thread-safe.
 */
final class LostRounds {
    private static final int MOST = 64;
    private static final int PART = 3;

    private final QuorumMembers members;
    private final Claim claim;
    private final Predicate<ClaimId> mayHold;
    private final ReentrantLock mutex = new ReentrantLock();
    private final Set<String> owners = new LinkedHashSet<>();
    private final List<ClaimId> toRepeat = new ArrayList<>();

    /** @param mayHold whether a round of that id may have been won after it was given up */
    LostRounds(QuorumMembers members, Claim claim, Predicate<ClaimId> mayHold) {
        this.members = members;
        this.claim = claim;
        this.mayHold = mayHold;
    }

    /** Adds a round; only one that can no longer be won. */
    void add(ClaimId round) {
        boolean first = false;
        mutex.lock();
        try {
            boolean isNew = owners.add(round.value());
            if (isNew && toRepeat.size() < MOST) {
                first = toRepeat.isEmpty();
                toRepeat.add(round);
            }
            if (owners.size() > MOST) {
                owners.remove(owners.iterator().next());
            }
        } finally {
            mutex.unlock();
        }
        if (first) {
            members.later(this::releaseAgain, third(claim.lease()));
        }
    }

    boolean contains(String owner) {
        mutex.lock();
        try {
            return owners.contains(owner);
        } finally {
            mutex.unlock();
        }
    }

    /** Releases each round once more; after that its lease is the bound. */
    private void releaseAgain() {
        List<ClaimId> now;
        mutex.lock();
        try {
            now = List.copyOf(toRepeat);
            toRepeat.clear();
        } finally {
            mutex.unlock();
        }
        for (ClaimId round : now) {
            if (!mayHold.test(round)) {
                members.all().forEach(member -> QuorumScripts.release(member, claim.name(), round));
            }
        }
    }

    private static Duration third(Duration lease) {
        return lease.dividedBy(PART);
    }
}
