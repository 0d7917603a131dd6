package dev.holdfast.redis;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The requests to a member of a quorum that no other server receives. Thread-safe. */
final class QuorumScripts {
    /** How long a waiter counts as waiting after it last asked: many times the pause between two questions. */
    private static final Duration LIFE = Duration.ofSeconds(5);

    private QuorumScripts() {}

    /** The answer of a member to a claim. */
    record Said(String text) {
        boolean isGrant() {
            return Character.isDigit(text.charAt(0));
        }

        /** Whether it takes no part. */
        boolean sitsOut() {
            return text.startsWith("?") || text.startsWith("~");
        }

        long number() {
            return Long.parseLong(text);
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
        String rest = Scripts.sixteenDigits(claim.floor())
                + ' '
                + claim.id().value()
                + ' '
                + (isNew && claim.waits() ? LIFE.toMillis() : 0)
                + ' '
                + joined;
        List<String> args = List.of(Scripts.state(round, claim), Long.toString(Scripts.millis(lease)), rest);
        Script script = isNew && !mayBeQueued ? Script.QUORUM_CLAIM : Script.QUORUM_CLAIM_FULLY;
        return member.call(ScriptCall.of(script, claim.name(), args)).handle((text, failure) -> {
            if (failure != null) {
                unanswered.run();
                throw new CompletionException(RedisErrors.unwrapped(failure));
            }
            Said said = new Said(text);
            if (said.sitsOut()) {
                throw member.sitsOut(said.text);
            }
            return said;
        });
    }

    /** Raises the number of a round's grant; that, or {@code -} if it has ended. */
    static CompletableFuture<Said> raise(QuorumMember member, String name, ClaimId round, long number) {
        return member.call(ScriptCall.of(Script.QUORUM_RAISE, name, List.of(round.value(), Long.toString(number))))
                .thenApply(Said::new);
    }

    /** Ends the grant of a round; true if it existed. */
    static CompletableFuture<Boolean> release(QuorumMember member, String name, ClaimId round) {
        return release(member, name, round, ScriptCall.NO_PLACE);
    }

    /** Ends the grant of a round that the member has answered: no late copy of its claim needs to be kept out. */
    static CompletableFuture<Boolean> releaseGranted(QuorumMember member, String name, ClaimId round) {
        return held(member.call(ScriptCall.release(name, round, Mode.EXCLUSIVE)));
    }

    private static CompletableFuture<Boolean> held(CompletableFuture<String> released) {
        return released.thenApply(said -> said.equals("1"));
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
        return held(member.call(ScriptCall.withdrawal(name, round, Mode.EXCLUSIVE, place)));
    }
}
