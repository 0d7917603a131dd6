package dev.holdfast.redis;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.LockMode;
import dev.holdfast.LockStatus;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.PatientWait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Locks kept by a majority of independent Redis servers.
 *
 * <p>The idea is the algorithm of the Redis documentation, "Distributed Locks with Redis" (RedLock): ask N servers that
 * know nothing of each other for the same lock, and hold it if a majority granted it before its lease was over. Martin
 * Kleppmann ("How to do distributed locking", 2016) objected that it gives no rising token, so that the resource cannot
 * recognize a holder that was paused, and that it trusts clocks and restarts. Salvatore Sanfilippo ("Is Redlock safe?",
 * 2016) answered that the lease is counted by the holder's own monotonic clock from before the request, that clocks
 * need to run at the same speed only, and that a restarted server must stay out until the longest lease is over. This
 * store meets the demands of both, as far as possible:
 *
 * <ol>
 *   <li><b>Claim.</b> All members are asked at the same time ({@link QuorumRound}), each in one script. A majority must
 *       grant; validity counts from before the first request was sent, less a hundredth of the lease for clocks that
 *       run at different speeds. Otherwise everything is released, and the claim tries again after a random pause
 *       ({@link QuorumClaim}): there is no queue over several servers.
 *   <li><b>Number.</b> Each member gives a number above all that it gave before. The grant's is the highest of them,
 *       and the others are raised to it; the hold is returned when a majority has that number. The majority of any
 *       later grant has a member in common with this one, and so a higher number: tokens rise across changing
 *       majorities.
 *   <li><b>Renewal.</b> It counts when a majority moved the lease. Members that have no grant, since they were away or
 *       were still releasing another one, are asked to join. That is safe until the deadline: up to then a majority
 *       still keeps the grant, so no other client can have had the lock.
 *   <li><b>Restart.</b> A restarted member may have lost its grants. It is recognized by its run id, or by a missing
 *       key, and grants nothing until the longest lease is over ({@link QuorumMember}).
 *   <li><b>Release, break, withdraw</b> go to all members, and count when a majority has answered.
 * </ol>
 *
 * <p>Two grants of one lock overlap only if the data of a majority's common member is lost and not noticed, or if the
 * clock of a member jumps. Each connection has its own order: nothing relies on an earlier step of another member.
 *
 * <p>Shared claims and permits are refused. Permits would be unsafe: with three members and two permits, three clients
 * could each find a permit at two members. Thread-safe.
 */
final class QuorumStore implements Store {
    private static final Duration SOON = Duration.ofMillis(50);
    private static final int WINS_PER_SWEEP = 256;
    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(1);

    private final QuorumMembers members;
    private final Capabilities capabilities;
    private final QuorumReading reading;
    private final Runnable shutDown;
    private final LateListener listener = new LateListener();
    private final Map<ClaimId, QuorumHold> holds = new ConcurrentHashMap<>();
    private final Set<QuorumClaim> claims = ConcurrentHashMap.newKeySet();
    private final AtomicLong wins = new AtomicLong();
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param caveats facts that users must know of the members
     * @param shutDown ends the Lettuce client
     */
    QuorumStore(QuorumMembers members, Collection<String> caveats, Runnable shutDown) {
        this.members = members;
        List<String> all = new ArrayList<>(caveats);
        all.add(
                "If a majority of the members loses its data, or the clock of one jumps, two may hold the same lock until the"
                        + " first finds it lost; tokens tell them apart as far as the clocks of the members agree.");
        all.add("A member that was started again grants nothing until the longest lease is over.");
        all.add("All clients must name the same members: clients with different lists may hold the same lock at once.");
        this.capabilities = Capabilities.least()
                .modes(Set.of(LockMode.EXCLUSIVE))
                .tokens(Capabilities.Tokens.AS_CLOCKS_AGREE)
                .caveats(all);
        this.reading = new QuorumReading(members);
        this.shutDown = shutDown;
        members.listen(new QuorumMembers.Events() {
            @Override
            public void changed() {
                membersChanged();
            }

            @Override
            public void shutDown(RuntimeException why) {
                claims.forEach(claim -> claim.fail(why));
            }
        });
    }

    @Override
    public String description() {
        return members.errors().store();
    }

    @Override
    public Capabilities capabilities() {
        return capabilities;
    }

    @Override
    public void listen(StoreListener engine) {
        listener.set(engine);
    }

    /** Waiting claims learn immediately that too few members are left, and ask immediately when enough are back. */
    private void membersChanged() {
        if (closed.get()) {
            return;
        }
        boolean enough = members.areEnoughReady();
        for (QuorumClaim claim : claims) {
            if (claim.isWaiting() && enough) {
                claim.ask();
            } else if (claim.isWaiting()) {
                claim.unreachable(new StoreUnavailableException("fewer than " + members.majority() + " of the "
                        + members.size() + " members of " + description() + " are connected"));
            }
        }
    }

    void unreachable(String name, Throwable why) {
        listener.unreachable(name, why);
    }

    void reachable() {
        listener.reachable();
    }

    // ---- claims ----

    @Override
    public Pending claim(Claim claim, Answer answer) {
        if (!capabilities.modes().contains(claim.mode().kind())) {
            answer.failed(new UnsupportedByStoreException("cannot claim '" + claim.name() + "' on " + description()
                    + ": a quorum grants exclusive locks only; use redis:// or another store"));
            return Pending.BRIEFLY;
        }
        QuorumClaim asked = new QuorumClaim(this, members, claim);
        claims.add(asked);
        answer.follow(asked.answer());
        asked.answer()
                .whenComplete((grant, failure) -> claims.remove(asked)); // first, as what was added last runs first
        if (closed.get()) {
            asked.fail(closedException());
        } else {
            asked.ask();
        }
        return asked;
    }

    /** The grant of a claim; null if it has none. */
    @Nullable
    QuorumHold hold(ClaimId id) {
        return holds.get(id);
    }

    void won(QuorumHold hold, Grant grant) {
        long now = members.time().nanoTime();
        hold.lastsUntil(grant.sentNanos() + grant.lease().toNanos());
        holds.put(hold.claim.id(), hold);
        if (wins.incrementAndGet() % WINS_PER_SWEEP == 0) { // grants that were lost are not released
            holds.values().removeIf(each -> each.wasOverBefore(now));
        }
        members.later(() -> joinAll(hold, hold.claim.lease()), SOON);
    }

    void forget(QuorumHold hold) {
        hold.end();
        holds.remove(hold.claim.id(), hold);
    }

    // ---- grants ----

    @Override
    public CompletionStage<Map<ClaimId, Renewal>> renew(Collection<Grant> grants) {
        return closed.get()
                ? CompletableFuture.failedFuture(closedException())
                : new QuorumRenewal(this, members, grants).start();
    }

    /** Members without this grant are asked to join it. */
    private void joinAll(QuorumHold hold, Duration lease) {
        for (QuorumMember member : members.all()) {
            if (!hold.isAt(member.index())) {
                join(member, hold, lease);
            }
        }
    }

    /** Has a member join a valid grant; whether it has. */
    CompletableFuture<Boolean> join(QuorumMember member, QuorumHold hold, Duration lease) {
        if (hold.hasEnded() || closed.get() || !member.isReady()) {
            return CompletableFuture.completedFuture(false);
        }
        hold.asksToJoin(member.index());
        return QuorumScripts.join(member, hold, lease).handle((said, failure) -> {
            if (said == null || !said.isGrant()) {
                return false;
            }
            hold.joined(member.index(), said.number());
            if (hold.hasEnded()) {
                QuorumScripts.release(member, hold.claim.name(), hold.round);
            }
            return !hold.hasEnded();
        });
    }

    /** Releases the rest of a grant that a majority no longer has. */
    void lost(QuorumHold hold) {
        forget(hold);
        members.all().forEach(member -> QuorumScripts.release(member, hold.claim.name(), hold.round));
    }

    @Override
    public CompletionStage<Optional<Grant>> extend(Grant grant) {
        return closed.get()
                ? CompletableFuture.failedFuture(closedException())
                : CompletableFuture.completedFuture(Optional.empty());
    }

    /** The grant existed if a majority says so, or might say so if all had answered. */
    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        QuorumHold hold = holds.get(grant.id());
        ClaimId round = hold == null ? grant.id() : hold.round;
        if (hold != null) {
            hold.end();
        }
        return members.ask(
                        member -> hold == null || hold.mayComeLate(member.index())
                                ? QuorumScripts.release(member, grant.name(), round, grant.id())
                                : QuorumScripts.releaseGranted(member, grant.name(), round),
                        given -> true,
                        Duration.ofMillis(20))
                .thenApply(answers -> {
                    int held = answers.orThrow(members).count(existed -> existed);
                    if (hold != null) { // until then the release is repeated, for the round that the members know
                        forget(hold);
                    }
                    return held > 0 && held + answers.missing() >= members.majority();
                });
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
        QuorumHold hold = holds.get(claim.id());
        CompletableFuture<Void> first = CompletableFuture.completedFuture(null);
        if (hold != null) {
            hold.end();
        }
        if (hold != null && !hold.round.equals(claim.id())) {
            first = members.ask(
                            member -> QuorumScripts.release(member, claim.name(), hold.round),
                            given -> true,
                            Duration.ofMillis(20))
                    .thenAccept(answers -> answers.orThrow(members));
        }
        CompletableFuture<Void> second = members.ask(
                        member -> QuorumScripts.withdraw(member, claim), given -> true, Duration.ofMillis(20))
                .thenAccept(answers -> answers.orThrow(members));
        return first.thenCombine(second, (one, two) -> {
            if (hold != null) {
                forget(hold);
            }
            return null;
        });
    }

    // ---- reading and breaking ----

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return reading.status(name);
    }

    @Override
    public CompletionStage<List<LockStatus>> list(String prefix) {
        return closed.get() ? CompletableFuture.failedFuture(closedException()) : reading.list(prefix);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(String name, long number, boolean now) {
        return reading.breakGrant(name, number, now);
    }

    // ---- the end ----

    /** Claims give up their places; grants are left to their leases. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            ClientClosedException why = closedException();
            List<QuorumClaim> open = List.copyOf(claims);
            leaveAll(open);
            open.forEach(claim -> claim.fail(why));
            claims.forEach(claim -> claim.fail(why));
            members.close(why);
            try {
                members.close();
            } finally {
                shutDown.run();
            }
        }
    }

    private static void leaveAll(List<QuorumClaim> open) {
        // Without an answer the members cease to count them as waiting after a while.
        PatientWait.within(
                CompletableFuture.allOf(open.stream().map(QuorumClaim::giveUp).toArray(CompletableFuture<?>[]::new)),
                LEAVE_TIMEOUT);
    }

    private ClientClosedException closedException() {
        return new ClientClosedException("the client of " + description() + " is closed; connect again");
    }
}
