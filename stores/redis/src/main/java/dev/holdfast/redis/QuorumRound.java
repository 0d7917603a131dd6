package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 *   so many refused or silent that no majority is left ──► all that was granted is given back    HELD, SPLIT, UNAVAILABLE
 * </pre>
 *
 * <p>The id of its own makes the rounds of one claim independent of the order in which members carry requests out: what gives
 * one round back never touches the next, and a copy that comes late finds its round ended. It also shows whether others have
 * won: when a majority names the same round, that one has. A member that answers after the decision gets its grant raised, or
 * gives it back. Thread-safe.
 */
final class QuorumRound {
    /** What came of it. */
    enum Outcome {
        WON,
        /** A majority has granted the lock to one other round. */
        HELD,
        /** Perhaps so, for some members are silent. */
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
     * @param why of one that nobody can tell of
     */
    record Result(
            Outcome outcome,
            @Nullable QuorumHold hold,
            @Nullable Grant grant,
            @Nullable RuntimeException why) {}

    private enum Vote {
        ASKED,
        GRANTED,
        CONFIRMED,
        REFUSED,
        FAILED
    }

    private final QuorumMembers members;
    private final Claim claim;
    private final ClaimId id;
    private final LostRounds lost;
    private final long sentNanos;
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private final Vote[] votes;
    private final long[] numbers;
    private final Map<String, Integer> rivals = new HashMap<>();
    private final List<Throwable> failures = new ArrayList<>();
    /** The number of the grant; 0 until a majority has granted. */
    private long number;

    private @Nullable Result decided;
    private boolean waitsForLast;
    /** A member that was asked, or told of the end, has not answered. */
    private boolean unheard;

    private boolean givenUp;

    /** @param lost the earlier rounds of this claim that may have left a grant */
    QuorumRound(QuorumMembers members, Claim claim, ClaimId id, LostRounds lost) {
        this.members = members;
        this.claim = claim;
        this.id = id;
        this.lost = lost;
        this.votes = new Vote[members.size()];
        Arrays.fill(votes, Vote.ASKED);
        this.numbers = new long[members.size()];
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
            QuorumScripts.claim(member, claim, id, () -> unheardIf(sent))
                    .whenComplete((said, failure) -> answered(member, said, failure));
        }
        return result;
    }

    // ---- answers ----

    private void answered(QuorumMember member, QuorumScripts.@Nullable Said said, @Nullable Throwable failure) {
        String own = said != null && !said.isGrant() && lost.contains(said.owner()) ? said.owner() : null;
        Result before = step(() -> {
            int i = member.index();
            if (said == null) {
                votes[i] = Vote.FAILED;
                failures.add(RedisErrors.unwrapped(failure == null ? new IllegalStateException() : failure));
            } else if (said.isGrant()) {
                votes[i] = Vote.GRANTED;
                numbers[i] = said.number();
            } else {
                votes[i] = Vote.REFUSED;
                if (own == null && !said.owner().equals(id.value())) {
                    rivals.merge(said.owner(), 1, Integer::sum);
                }
            }
        });
        if (own != null) {
            QuorumScripts.release(member, claim.name(), new ClaimId(own));
        } else if (before != null && said != null && said.isGrant()) {
            cameLate(member, before);
        }
    }

    private void raised(QuorumMember member, QuorumScripts.@Nullable Said said, @Nullable Throwable failure) {
        Result before = step(() -> {
            int i = member.index();
            if (said != null && said.isGrant()) {
                numbers[i] = said.number();
                votes[i] = Vote.CONFIRMED;
            } else {
                votes[i] = Vote.FAILED;
                failures.add(
                        failure == null
                                ? new StoreUnavailableException("the grant ended at " + RedisUrl.describe(member.uri()))
                                : RedisErrors.unwrapped(failure));
            }
        });
        if (failure != null) {
            unheard();
        }
        if (before != null && before.hold != null && said != null && said.isGrant()) {
            before.hold.joined(member.index(), said.number());
        }
    }

    /** No more answers are waited for; of those that are to raise their numbers, only at the very end. */
    private void giveUpOthers(boolean atEnd) {
        step(() -> {
            for (int i = 0; i < votes.length; i++) {
                if (votes[i] == Vote.ASKED || (atEnd && votes[i] == Vote.GRANTED)) {
                    votes[i] = Vote.FAILED;
                    failures.add(new StoreUnavailableException("no answer in time from "
                            + RedisUrl.describe(members.all().get(i).uri())));
                }
            }
        });
    }

    /** Notes something, and does what follows from it, outside the lock; notes nothing after the decision, which it returns. */
    private @Nullable Result step(Runnable note) {
        List<Integer> toRaise = new ArrayList<>();
        Result now = null;
        boolean hurry = false;
        mutex.lock();
        try {
            if (decided != null) {
                return decided;
            }
            note.run();
            fixNumber(toRaise);
            now = decision();
            decided = now;
            if (now == null && !waitsForLast && count(Vote.ASKED) + count(Vote.FAILED) < members.majority()) {
                waitsForLast = true;
                hurry = true;
            }
        } finally {
            mutex.unlock();
        }
        for (int i : toRaise) {
            QuorumMember member = members.all().get(i);
            QuorumScripts.raise(member, claim.name(), id, number)
                    .whenComplete((said, failure) -> raised(member, said, failure));
        }
        if (hurry) {
            members.later(() -> giveUpOthers(false), QuorumMembers.GRACE);
        }
        if (now != null) {
            result.complete(now);
        }
        return null;
    }

    /** Once a majority has granted, the highest of their numbers is that of the grant; all below it are raised. */
    private void fixNumber(List<Integer> toRaise) {
        if (number == 0 && count(Vote.GRANTED) >= members.majority()) {
            for (long each : numbers) {
                number = Math.max(number, each);
            }
        }
        if (number == 0) {
            return;
        }
        for (int i = 0; i < votes.length; i++) {
            if (votes[i] == Vote.GRANTED && numbers[i] >= number) {
                votes[i] = Vote.CONFIRMED;
            } else if (votes[i] == Vote.GRANTED && numbers[i] > 0) {
                numbers[i] = 0; // asked to raise it
                toRaise.add(i);
            }
        }
    }

    private @Nullable Result decision() {
        int majority = members.majority();
        if (count(Vote.CONFIRMED) >= majority) {
            return members.time().nanoTime() - sentNanos < leastNanos() ? won() : lost(Outcome.TOO_LATE, tooLate());
        }
        int out = count(Vote.REFUSED) + count(Vote.FAILED);
        if (members.size() - out >= majority) {
            return null; // may still be won
        }
        int failed = count(Vote.FAILED);
        int asked = count(Vote.ASKED);
        int most = rivals.values().stream().mapToInt(votesOf -> votesOf).max().orElse(0);
        if (most >= majority) {
            return lost(Outcome.HELD, null);
        }
        if (members.size() - failed < majority) {
            return lost(Outcome.UNAVAILABLE, members.tooFew(members.size() - failed - asked, failures));
        }
        if (members.size() - failed - asked < majority) {
            return null; // nobody can tell yet
        }
        return lost(most + failed >= majority ? Outcome.PERHAPS_HELD : Outcome.SPLIT, null);
    }

    private Result won() {
        QuorumHold hold = new QuorumHold(claim, id, number, votes.length);
        for (int i = 0; i < votes.length; i++) {
            if (votes[i] == Vote.CONFIRMED) {
                hold.joined(i, numbers[i]);
            }
        }
        return new Result(Outcome.WON, hold, Grant.of(claim, List.of(number), sentNanos), null);
    }

    private static Result lost(Outcome outcome, @Nullable RuntimeException why) {
        return new Result(outcome, null, null, why);
    }

    /** What is left of the lease when the clocks of the members run as wrong as they may. */
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

    private int count(Vote vote) {
        int found = 0;
        for (Vote each : votes) {
            found += each == vote ? 1 : 0;
        }
        return found;
    }

    // ---- afterwards ----

    private void cameLate(QuorumMember member, Result done) {
        QuorumHold hold = done.hold;
        if (hold == null || hold.hasEnded()) {
            release(member);
        } else if (!hold.isAt(member.index())) {
            QuorumScripts.raise(member, claim.name(), id, hold.number)
                    .whenComplete((said, failure) -> raised(member, said, failure));
        }
    }

    private CompletableFuture<Boolean> release(QuorumMember member) {
        return QuorumScripts.release(member, claim.name(), id).whenComplete((stood, failure) -> {
            if (failure != null) {
                unheard();
            }
        });
    }

    private void unheardIf(boolean sent) {
        if (sent) {
            unheard();
        }
    }

    private void unheard() {
        boolean isLost;
        mutex.lock();
        try {
            unheard = true;
            isLost = givenUp;
        } finally {
            mutex.unlock();
        }
        if (isLost) {
            lost.add(id);
        }
    }

    /** Gives back what was granted, or may have been; what is granted yet, is given back when it comes. */
    CompletableFuture<?> undo() {
        List<Vote> now;
        boolean isLost;
        mutex.lock();
        try {
            now = List.of(votes);
            givenUp = true;
            isLost = unheard;
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
