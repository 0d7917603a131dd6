package dev.holdfast.redis;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The rounds of one claim that were given up, though a member that was asked may have granted them and could not be told: its
 * answer or the release got lost with the connection. Such a grant belongs to nobody. The next round that meets it ends it;
 * once more, a third of a lease later, all members are told. Not of the first round, though: its id is the claim's, under
 * which the claim may be made again, and the engine withdraws it twice. Thread-safe.
 */
final class LostRounds {
    private static final int MOST = 64;
    private static final int PART = 3;

    private final QuorumMembers members;
    private final Claim claim;
    private final ReentrantLock mutex = new ReentrantLock();
    private final Set<String> owners = new LinkedHashSet<>();
    private final List<ClaimId> toRepeat = new ArrayList<>();

    LostRounds(QuorumMembers members, Claim claim) {
        this.members = members;
        this.claim = claim;
    }

    /** Only a round that can no longer be won. */
    void add(ClaimId round) {
        boolean first = false;
        mutex.lock();
        try {
            boolean isNew = owners.add(round.value());
            if (isNew && !round.equals(claim.id()) && toRepeat.size() < MOST) {
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

    /** After that the lease is the bound. */
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
            members.all().forEach(member -> QuorumScripts.release(member, claim.name(), round));
        }
    }

    private static Duration third(Duration lease) {
        return lease.dividedBy(PART);
    }
}
