package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One round of a claim: every member is asked at the same time, under an id that no other round has.
 *
 * <pre>
 *   asked at t ──► a majority granted ──► numbers fixed: the highest of them ──► the others of them raised to it
 *                                                                                      │
 *       before t + lease − drift ◄── a majority has that number ◄──────────────────────┘   WON
 *
 *   so many refused or silent that no majority is left ──► all that was granted is released      HELD, SPLIT, UNAVAILABLE
 * </pre>
 *
 * <p>Its own id makes the rounds of one claim independent of the order in which members run requests: the release of
 * one round never touches the next, and a late copy finds its round ended. The id also shows whether another client has
 * won: when a majority names the same round, that round has. If a member answers after the decision, its grant is
 * raised or released. {@link QuorumBallot} counts the answers. Thread-safe.
 */
final class QuorumRound {
    /** The outcome of a round. */
    enum Outcome {
        WON,
        /** A majority has granted the lock to one other round. */
        HELD,
        /** Perhaps held, for some members are silent. */
        PERHAPS_HELD,
        /** Several rounds have some members each. */
        SPLIT,
        /** Won, but so slowly that nothing is left of the lease. */
        TOO_LATE,
        UNAVAILABLE
    }

    /**
     * @param hold of a round that was won
     * @param grant of a round that was won
     * @param why the failure of a round whose outcome is unknown
     */
    record Result(
            Outcome outcome,
            @Nullable QuorumHold hold,
            @Nullable Grant grant,
            @Nullable RuntimeException why) {}

    private final QuorumMembers members;
    private final Claim claim;
    private final ClaimId id;
    private final LostRounds lost;
    private final long sentNanos;
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private final QuorumBallot ballot;
    private @Nullable Result decided;
    private boolean waitsForLast;
    /** A member has not answered the claim, or the release. */
    private boolean unanswered;

    private boolean givenUp;

    /** @param lost the earlier rounds of this claim that may have left a grant */
    QuorumRound(QuorumMembers members, Claim claim, ClaimId id, LostRounds lost) {
        this.members = members;
        this.claim = claim;
        this.id = id;
        this.lost = lost;
        this.ballot = new QuorumBallot(members.size(), members.majority());
        this.sentNanos = members.time().nanoTime();
    }

    ClaimId id() {
        return id;
    }

    CompletableFuture<Result> start() {
        Duration most = claim.lease().compareTo(members.timeout()) < 0 ? claim.lease() : members.timeout();
        var timer = members.later(() -> giveUpOthers(true), most);
        result.whenComplete((done, failure) -> timer.cancel());
        for (QuorumMember member : members.all()) {
            boolean sent = member.isReady();
            try {
                QuorumScripts.claim(member, claim, id, () -> unansweredIf(sent))
                        .whenComplete((said, failure) -> answered(member, said, failure));
            } catch (Throwable broken) { // such as of memory: what the others grant is released like that of any round
                answered(member, null, broken);
            }
        }
        return result;
    }

    // ---- answers ----

    private void answered(QuorumMember member, QuorumScripts.@Nullable Said said, @Nullable Throwable failure) {
        String own = said != null && !said.isGrant() && lost.contains(said.owner()) ? said.owner() : null;
        Result before = step(() -> {
            int i = member.index();
            if (said == null) {
                ballot.failed(i, RedisErrors.unwrapped(failure == null ? new IllegalStateException() : failure));
            } else if (said.isGrant()) {
                ballot.granted(i, said.number());
            } else {
                boolean ours = own != null || said.owner().equals(id.value());
                ballot.refused(i, ours ? null : said.owner());
            }
        });
        if (own != null) {
            QuorumScripts.release(member, claim.name(), ClaimId.of(own));
        } else if (before != null && said != null && said.isGrant()) {
            answeredLate(member, before);
        }
    }

    private void raised(QuorumMember member, QuorumScripts.@Nullable Said said, @Nullable Throwable failure) {
        Result before = step(() -> {
            if (said != null && said.isGrant()) {
                ballot.confirmed(member.index(), said.number());
            } else {
                ballot.failed(
                        member.index(),
                        failure == null
                                ? new StoreUnavailableException("the grant ended at " + RedisUrl.describe(member.uri()))
                                : RedisErrors.unwrapped(failure));
            }
        });
        if (failure != null) {
            unanswered();
        }
        if (before != null && before.hold != null && said != null && said.isGrant()) {
            before.hold.joined(member.index(), said.number());
        }
    }

    /** Waits for no more answers; for members that are to raise their numbers, only at the very end. */
    private void giveUpOthers(boolean atEnd) {
        step(() -> ballot.failSilent(
                atEnd,
                member -> new StoreUnavailableException("no answer in time from "
                        + RedisUrl.describe(members.all().get(member).uri()))));
    }

    /** Runs a note, then acts on it outside the lock. After the decision it runs nothing and returns the decision. */
    private @Nullable Result step(Runnable note) {
        List<Integer> toRaise;
        long number;
        Result now;
        boolean hurry = false;
        mutex.lock();
        try {
            if (decided != null) {
                return decided;
            }
            note.run();
            toRaise = ballot.fixNumber();
            number = ballot.number();
            now = decision();
            decided = now;
            if (now == null && !waitsForLast && ballot.isMinoritySilent()) {
                waitsForLast = true;
                hurry = true;
            }
        } finally {
            mutex.unlock();
        }
        try {
            for (int i : toRaise) {
                QuorumMember member = members.all().get(i);
                QuorumScripts.raise(member, claim.name(), id, number)
                        .whenComplete((said, failure) -> raised(member, said, failure));
            }
            if (hurry) {
                members.later(() -> giveUpOthers(false), QuorumMembers.GRACE);
            }
        } finally {
            if (now != null) {
                result.complete(now);
            }
        }
        return null;
    }

    private @Nullable Result decision() {
        Outcome outcome = ballot.outcome();
        if (outcome == null) {
            return null;
        }
        return switch (outcome) {
            case WON ->
                members.time().nanoTime() - sentNanos < leastNanos() ? won() : lost(Outcome.TOO_LATE, tooLate());
            case UNAVAILABLE -> lost(outcome, members.tooFew(ballot.answered(), ballot.failures()));
            case HELD, PERHAPS_HELD, SPLIT, TOO_LATE -> lost(outcome, null);
        };
    }

    private Result won() {
        QuorumHold hold = new QuorumHold(claim, id, ballot.number(), members.size());
        ballot.enterConfirmed(hold);
        return new Result(Outcome.WON, hold, Grant.of(claim, ballot.number(), sentNanos), null);
    }

    private static Result lost(Outcome outcome, @Nullable RuntimeException why) {
        return new Result(outcome, null, null, why);
    }

    /** The rest of the lease when the clocks of the members run as wrong as they may. */
    private long leastNanos() {
        long lease = claim.lease().toNanos();
        return lease - Math.max(lease / 100, 2_000_000);
    }

    private RuntimeException tooLate() {
        return new StoreUnavailableException(
                "the members of " + members.errors().store()
                        + " took longer to grant '" + claim.name() + "' than its lease of "
                        + claim.lease().toMillis() + " ms; use a longer lease");
    }

    // ---- afterwards ----

    private void answeredLate(QuorumMember member, Result done) {
        QuorumHold hold = done.hold;
        if (hold == null || hold.hasEnded()) {
            release(member);
        } else if (!hold.isAt(member.index())) {
            QuorumScripts.raise(member, claim.name(), id, hold.number)
                    .whenComplete((said, failure) -> raised(member, said, failure));
        }
    }

    private CompletableFuture<Boolean> release(QuorumMember member) {
        return QuorumScripts.release(member, claim.name(), id).whenComplete((existed, failure) -> {
            if (failure != null) {
                unanswered();
            }
        });
    }

    private void unansweredIf(boolean sent) {
        if (sent) {
            unanswered();
        }
    }

    private void unanswered() {
        boolean isLost;
        mutex.lock();
        try {
            unanswered = true;
            isLost = givenUp;
        } finally {
            mutex.unlock();
        }
        if (isLost) {
            lost.add(id);
        }
    }

    /** Releases all grants, known or possible; a later grant is released when its answer arrives. */
    CompletableFuture<?> undo() {
        List<QuorumBallot.Vote> now;
        boolean isLost;
        mutex.lock();
        try {
            now = ballot.votes();
            givenUp = true;
            isLost = unanswered;
        } finally {
            mutex.unlock();
        }
        if (isLost) {
            lost.add(id);
        }
        return members.ask(
                member -> switch (now.get(member.index())) {
                    case ASKED, REFUSED -> CompletableFuture.completedFuture(true);
                    case FAILED -> QuorumScripts.release(member, claim.name(), id);
                    case GRANTED, CONFIRMED -> release(member);
                },
                given -> true,
                Duration.ofMillis(20));
    }
}
