package dev.holdfast.redis;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A grant of a quorum, as its members know it: under the id of the round that won it, and at each member with a number
 * that may be above the grant's own. Thread-safe.
 */
final class QuorumHold {
    final Claim claim;
    final ClaimId round;
    final long number;
    /** 0 where the member has no grant. */
    private final AtomicLongArray numbers;

    /** The members that were asked to join. */
    private final Set<Integer> asked = ConcurrentHashMap.newKeySet();

    private volatile boolean ended;
    private volatile long leaseEnds;

    QuorumHold(Claim claim, ClaimId round, long number, int members) {
        this.claim = claim;
        this.round = round;
        this.number = number;
        this.numbers = new AtomicLongArray(members);
    }

    void joined(int member, long itsNumber) {
        numbers.set(member, itsNumber);
    }

    void asksToJoin(int member) {
        asked.add(member);
    }

    /** Whether a request that would grant it may still be on its way to a member. */
    boolean mayComeLate(int member) {
        return !isAt(member) || asked.contains(member);
    }

    boolean isAt(int member) {
        return numbers.get(member) > 0;
    }

    /** A majority has it until then at most. */
    void lastsUntil(long nanos) {
        leaseEnds = nanos;
    }

    /** Whether its lease was over before that; its end may never have been reported. */
    boolean wasOverBefore(long nanos) {
        return nanos - leaseEnds > 0;
    }

    /** From now on no other member joins. */
    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    /** The grant as a member knows it, to be renewed for as long as this one. */
    Grant at(int member, Grant grant) {
        return new Grant(round, grant.name(), grant.mode(), grant.lease(), numbers.get(member), grant.sentNanos());
    }

    /** The answer of one member about a grant. */
    enum Vote {
        HELD,
        CONTENDED,
        LOST,
        UNKNOWN;

        static Vote of(@Nullable Map<ClaimId, Renewal> said, ClaimId round) {
            Renewal renewal = said == null ? null : said.get(round);
            if (renewal == null || renewal.verdict() == Renewal.Verdict.UNKNOWN) {
                return UNKNOWN;
            }
            if (renewal.verdict() == Renewal.Verdict.LOST) {
                return LOST;
            }
            return renewal.contended() ? CONTENDED : HELD;
        }
    }
}
