package dev.holdfast.redis;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** The requests to a member of a quorum that no other server receives. Thread-safe. */
final class QuorumScripts {
    /** How long a waiter counts as waiting after it last asked: many times the pause between two questions. */
    private static final Duration LIFE = Duration.ofSeconds(5);

    /** A place in the queue that no claim has: a release that names one also keeps out a late copy of the claim. */
    private static final String NO_PLACE = "-";

    private static final AtomicLong ATTEMPTS = new AtomicLong();

    private QuorumScripts() {}

    /** The answer of a member to a claim. */
    record Said(String text) {
        boolean isGrant() {
            return text.startsWith("+");
        }

        /** Whether it takes no part. */
        boolean sitsOut() {
            return text.startsWith("?") || text.startsWith("~");
        }

        long number() {
            return Long.parseLong(text, 1, text.length(), 10);
        }

        /** The round that has the lock there. */
        String owner() {
            return text.substring(1);
        }
    }

    /**
     * Claims for one round.
     *
     * @param unanswered run if no answer arrives, so that the member may have granted it
     */
    static CompletableFuture<Said> claim(QuorumMember member, Claim claim, ClaimId round, Runnable unanswered) {
        return claim(member, claim, round, claim.lease(), "0", unanswered);
    }

    /** Has one more member grant the lock as a majority has. */
    static CompletableFuture<Said> join(QuorumMember member, QuorumHold hold, Duration lease) {
        return claim(member, hold.claim, hold.round, lease, Long.toString(hold.number), () -> {});
    }

    private static CompletableFuture<Said> claim(
            QuorumMember member, Claim claim, ClaimId round, Duration lease, String joined, Runnable unanswered) {
        boolean isNew = joined.equals("0");
        boolean mayBeQueued = claim.waits() && !round.equals(claim.id()); // claim_free.lua leaves the queue alone
        List<String> args = List.of(
                round.value(),
                Long.toString(lease.plusNanos(999_999).toMillis()),
                HolderText.write(claim.holder()),
                Scripts.sixteenDigits(claim.floor()),
                claim.id().value(),
                isNew && claim.waits() ? Long.toString(LIFE.toMillis()) : "0",
                joined);
        Script script = isNew && !mayBeQueued ? Script.QUORUM_CLAIM : Script.QUORUM_CLAIM_FULLY;
        return member.call(ScriptCall.of(script, claim.name(), args))
                .whenComplete((text, failure) -> {
                    if (failure != null) {
                        unanswered.run();
                    }
                })
                .thenApply(Said::new)
                .thenApply(said -> {
                    if (said.sitsOut()) {
                        throw member.sitsOut(said.text);
                    }
                    return said;
                });
    }

    /** Raises the number of a round's grant; {@code +NUMBER}, or {@code -} if it has ended. */
    static CompletableFuture<Said> raise(QuorumMember member, String name, ClaimId round, long number) {
        return member.call(ScriptCall.of(Script.QUORUM_RAISE, name, List.of(round.value(), Long.toString(number))))
                .thenApply(Said::new);
    }

    /** Ends the grant of a round; true if it existed. */
    static CompletableFuture<Boolean> release(QuorumMember member, String name, ClaimId round) {
        return release(member, name, round, NO_PLACE);
    }

    /** The same for a round of a claim that no longer waits. */
    static CompletableFuture<Boolean> release(QuorumMember member, String name, ClaimId round, ClaimId claim) {
        return release(member, name, round, claim.value());
    }

    /** The same, and the claim no longer waits. */
    static CompletableFuture<Boolean> withdraw(QuorumMember member, Claim claim) {
        return release(member, claim.name(), claim.id(), claim.id().value());
    }

    private static CompletableFuture<Boolean> release(QuorumMember member, String name, ClaimId round, String place) {
        List<String> args = List.of(round.value(), Long.toString(ATTEMPTS.incrementAndGet()), "X", "1", place);
        return member.call(ScriptCall.release(name, false, args)).thenApply(said -> said.equals("1"));
    }
}
