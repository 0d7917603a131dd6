package dev.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockStatus;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

/** A client without an engine: speaks to the store directly and waits for each answer. */
final class RawClient {
    static final int TOKENS_PER_NUMBER = 1024;
    private static final Duration TO_HAVE_ASKED = Duration.ofMillis(100);

    final Store store;
    private final Patience patience;

    RawClient(Store store, Patience patience) {
        this.store = store;
        this.patience = patience;
    }

    /** A claim in the store's queue. */
    record Queued(Claim claim, Asked pending, Patience patience) {
        /** What came of it: the grant, or nothing when it was cancelled. */
        Optional<Grant> answer() {
            return patience.answer(pending.answer(), "claim " + claim);
        }

        /** The grant it must have got. */
        Grant granted() {
            return answer().orElseThrow(() -> new AssertionError("answered with nothing: " + claim));
        }

        boolean isAnswered() {
            return pending.answer().isDone();
        }
    }

    Optional<Grant> ask(Claim claim) {
        return wait(Asked.of(store, claim).answer(), "claim " + claim);
    }

    /** Tries once for an exclusive grant with a long lease. */
    Optional<Grant> attempt(String name) {
        return ask(Claims.of(name));
    }

    /** An exclusive grant of a name that is free. */
    Grant hold(String name) {
        return hold(Claims.of(name));
    }

    /** An exclusive grant of a name that is free, for a lease. */
    Grant hold(String name, Duration lease) {
        return hold(Claims.lease(Claims.of(name), lease));
    }

    Grant hold(Claim claim) {
        return ask(claim).orElseThrow(() -> new AssertionError("free, and yet not granted: " + claim));
    }

    /** Tries until it is granted. */
    Grant holdWhenFree(String name) {
        return patience.untilPresent("'" + name + "' to be free", () -> attempt(name));
    }

    /**
     * Awaits that a name is free, by claiming it: a status that removed what was left behind would hide that it was left.
     */
    void claimOnce(String name) {
        assertThat(release(holdWhenFree(name))).as("the release of '%s'", name).isTrue();
    }

    /** Asks for a name that is held, and proves that the claim has come to wait in the store. */
    Queued queue(Claim claim) {
        int before = waiting(claim.name());
        Queued queued = await(claim);
        if (store.capabilities().countsWaiters()) {
            awaitWaiting(claim.name(), before + 1);
        } else {
            status(claim.name()); // is answered after the first request of the claim
        }
        return queued;
    }

    Queued queue(String name) {
        return queue(Claims.of(name));
    }

    /** Asks for a name that may be held. */
    Queued await(Claim claim) {
        return new Queued(claim, Asked.of(store, Claims.waiting(claim)), patience);
    }

    Map<ClaimId, Renewal> renew(Collection<Grant> grants) {
        return wait(store.renew(grants), "renew " + grants.size() + " grants");
    }

    Renewal renew(Grant grant) {
        return answerFor(grant, renew(List.of(grant)));
    }

    static Renewal answerFor(Grant grant, Map<ClaimId, Renewal> answers) {
        Renewal answer = answers.get(grant.id());
        if (answer == null) {
            throw new AssertionError("a renewal without an answer: " + grant);
        }
        return answer;
    }

    boolean isHeldBy(Grant grant) {
        return renew(grant).verdict() == Verdict.HELD;
    }

    Optional<Grant> extend(Grant grant) {
        return wait(store.extend(grant), "extend " + grant);
    }

    boolean downgrade(Grant grant) {
        return wait(store.downgrade(grant), "downgrade " + grant);
    }

    boolean release(Grant grant) {
        return wait(store.release(grant), "release " + grant);
    }

    void withdraw(Claim claim) {
        wait(store.withdraw(claim).thenApply(done -> true), "withdraw " + claim);
    }

    boolean breakGrant(Grant grant, boolean now) {
        return breakGrant(grant.name(), grant.number(), now);
    }

    /** Breaks the grant that the status of a name shows; whether there was one. */
    boolean breakShown(String name, boolean now) {
        return status(name)
                .grant()
                .map(shown -> breakGrant(name, shown.token() / TOKENS_PER_NUMBER, now))
                .orElse(false);
    }

    private boolean breakGrant(String name, long number, boolean now) {
        return wait(store.breakGrant(name, number, now), "break grant " + number + " of '" + name + "'");
    }

    LockStatus status(String name) {
        return wait(store.status(name), "status '" + name + "'");
    }

    List<LockStatus> list(String prefix) {
        return wait(store.list(prefix), "list '" + prefix + "'");
    }

    List<String> listedNames(String prefix) {
        return list(prefix).stream().map(LockStatus::name).toList();
    }

    boolean isHeld(String name) {
        return status(name).isHeld();
    }

    int waiting(String name) {
        return status(name).waiting();
    }

    /** Whether so many claims wait, or may wait where the store does not count them. */
    boolean seemsWaitedFor(String name, int clients) {
        return !store.capabilities().countsWaiters() || waiting(name) == clients;
    }

    /** Where the store does not count them, they are given the time to have asked many times. */
    void awaitWaiting(String name, int clients) {
        if (!store.capabilities().countsWaiters()) {
            assertThat(waiting(name))
                    .as("waiting claims, which are not counted")
                    .isZero();
            if (clients > 0) {
                LockSupport.parkNanos(TO_HAVE_ASKED.toNanos());
            }
            return;
        }
        patience.until(clients + " clients to wait for '" + name + "'", () -> waiting(name) == clients);
    }

    void awaitFree(String name) {
        patience.until("'" + name + "' to be free", () -> !isHeld(name));
    }

    private <T> T wait(CompletionStage<T> stage, String what) {
        return patience.answer(stage, what + " on " + store.description());
    }
}
