package dev.holdfast.redis;

import dev.holdfast.redis.QuorumHold.Vote;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The renewal of some grants by all members at the same time. A grant is held if a majority moved its lease, and lost
 * if a majority no longer has it; in between, members without it are asked to join, and count if they do. Thread-safe.
 */
final class QuorumRenewal {
    private static final int GRACES_PER_LEASE = 6;

    private final QuorumStore store;
    private final QuorumMembers members;
    private final List<Grant> grants;
    private final Map<ClaimId, QuorumHold> holds = new HashMap<>();
    private final long sentNanos;

    QuorumRenewal(QuorumStore store, QuorumMembers members, Collection<Grant> grants) {
        this.store = store;
        this.members = members;
        this.grants = List.copyOf(grants);
        this.grants.forEach(grant -> {
            QuorumHold hold = store.hold(grant.id());
            if (hold != null) {
                holds.put(grant.id(), hold);
            }
        });
        this.sentNanos = members.time().nanoTime();
    }

    CompletionStage<Map<ClaimId, Renewal>> start() {
        if (grants.isEmpty()) {
            return CompletableFuture.completedFuture(Map.of());
        }
        return members.ask(this::renewAt, given -> true, grace()).thenCompose(this::verdicts);
    }

    /** Short compared with the shortest lease, which would otherwise expire during the wait for a silent member. */
    private Duration grace() {
        return grants.stream()
                .map(grant -> grant.lease().dividedBy(GRACES_PER_LEASE))
                .reduce(QuorumMembers.GRACE, (one, two) -> one.compareTo(two) < 0 ? one : two);
    }

    private CompletionStage<Map<ClaimId, Renewal>> renewAt(QuorumMember member) {
        List<Grant> there = new ArrayList<>();
        for (Grant grant : grants) {
            QuorumHold hold = holds.get(grant.id());
            if (hold == null) {
                there.add(grant);
            } else if (hold.isAt(member.index())) {
                there.add(hold.at(member.index(), grant));
            }
        }
        return there.isEmpty() ? member.greeted() : member.renew(there);
    }

    private Vote vote(Grant grant, int member, QuorumMembers.Answers<Map<ClaimId, Renewal>> answers) {
        QuorumHold hold = holds.get(grant.id());
        Map<ClaimId, Renewal> said = answers.of(member);
        if (hold == null) {
            return Vote.of(said, grant.id());
        }
        return said != null && !said.containsKey(hold.round) ? Vote.LOST : Vote.of(said, hold.round);
    }

    private int count(Grant grant, QuorumMembers.Answers<Map<ClaimId, Renewal>> answers, Vote... which) {
        int found = 0;
        for (int i = 0; i < members.size(); i++) {
            Vote vote = vote(grant, i, answers);
            for (Vote each : which) {
                found += vote == each ? 1 : 0;
            }
        }
        return found;
    }

    private CompletionStage<Map<ClaimId, Renewal>> verdicts(QuorumMembers.Answers<Map<ClaimId, Renewal>> answers) {
        if (answers.count() == 0) {
            return CompletableFuture.failedFuture(members.tooFew(0, answers.failures()));
        }
        Map<ClaimId, Renewal> verdicts = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> inDoubt = new ArrayList<>();
        for (Grant grant : grants) {
            int held = count(grant, answers, Vote.HELD, Vote.CONTENDED);
            int lost = count(grant, answers, Vote.LOST);
            QuorumHold hold = holds.get(grant.id());
            if (held >= members.majority()) {
                int contended = count(grant, answers, Vote.CONTENDED);
                int unknown = members.size() - held - lost;
                verdicts.put(
                        grant.id(),
                        Renewal.held(sentNanos, contended > 0 && contended + unknown >= members.majority()));
                if (hold != null) {
                    hold.lastsUntil(sentNanos + grant.lease().toNanos());
                    joinThose(grant, hold, answers, new AtomicInteger());
                }
            } else if (lost >= members.majority()) {
                verdicts.put(grant.id(), Renewal.lost(sentNanos));
                if (hold != null) {
                    store.lost(hold);
                }
            } else {
                verdicts.put(grant.id(), Renewal.unknown(sentNanos));
                if (hold != null && held > 0 && lost > 0) {
                    inDoubt.add(joinInDoubt(grant, hold, answers, held, verdicts));
                }
            }
        }
        return CompletableFuture.allOf(inDoubt.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> verdicts);
    }

    /**
     * Has members join in place of those that do not answer; before its deadline no other client can have had the lock.
     */
    private CompletableFuture<?> joinInDoubt(
            Grant grant,
            QuorumHold hold,
            QuorumMembers.Answers<Map<ClaimId, Renewal>> answers,
            int held,
            Map<ClaimId, Renewal> verdicts) {
        AtomicInteger joined = new AtomicInteger(held);
        return joinThose(grant, hold, answers, joined).thenAccept(done -> {
            if (joined.get() >= members.majority()) {
                hold.lastsUntil(sentNanos + grant.lease().toNanos());
                verdicts.put(grant.id(), Renewal.held(sentNanos, false));
            }
        });
    }

    private CompletableFuture<Void> joinThose(
            Grant grant, QuorumHold hold, QuorumMembers.Answers<Map<ClaimId, Renewal>> answers, AtomicInteger joined) {
        List<CompletableFuture<?>> asked = new ArrayList<>();
        for (QuorumMember member : members.all()) {
            if (vote(grant, member.index(), answers) == Vote.LOST) {
                asked.add(store.join(member, hold, grant.lease()).thenAccept(has -> joined.addAndGet(has ? 1 : 0)));
            }
        }
        return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new));
    }
}
