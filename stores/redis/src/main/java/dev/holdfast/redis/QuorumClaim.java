package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a quorum: rounds, with random pauses between them, until one is won or the claim ends.
 *
 * <pre>
 *   ask ──► ASKING ── won ──────────────────────────► ANSWERED
 *    ▲        │                                          ▲
 *    │        │ not won: released                        │
 *    │        ▼                                          │
 *    └───── PAUSING ── cancel ──► LEAVING ── withdrawn ──┘
 * </pre>
 *
 * <p>A claim that does not wait ends with the first round that finds the lock held by a majority. After a split vote it
 * tries again for a while, since then no client holds the lock. Thread-safe.
 */
final class QuorumClaim implements Pending {
    private static final long FIRST_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int MOST_DOUBLINGS = 3;
    private static final long FIRST_SPLIT_NANOS = TimeUnit.MILLISECONDS.toNanos(4);
    private static final int MOST_SPLIT_DOUBLINGS = 4;
    /** How often a claim that does not wait asks while silent members leave it open whether the lock is held. */
    private static final int MOST_DOUBTS = 3;

    private enum Phase {
        ASKING,
        PAUSING,
        LEAVING,
        ANSWERED
    }

    private final QuorumStore store;
    private final QuorumMembers members;
    private final Claim claim;
    private final long until;
    private final LostRounds lost;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private Phase phase = Phase.PAUSING;
    private boolean cancelled;
    private int rounds;
    private int polls;
    private int splits;
    private int doubts;
    private final AtomicInteger failures = new AtomicInteger();
    private @Nullable QuorumRound round;
    private TimeSource.Scheduled timer = () -> {};

    QuorumClaim(QuorumStore store, QuorumMembers members, Claim claim) {
        this.store = store;
        this.members = members;
        this.claim = claim;
        this.until = members.time().nanoTime() + members.timeout().toNanos();
        this.lost = new LostRounds(members, claim, this::mayHold);
    }

    Claim claim() {
        return claim;
    }

    CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    /** Whether this round may have a grant, or receive one, by another claim under the same id. */
    private boolean mayHold(ClaimId round) {
        QuorumHold hold = store.hold(claim.id());
        return (hold != null && hold.round.equals(round))
                || (round.equals(claim.id()) && answer.isCompletedExceptionally());
    }

    boolean isWaiting() {
        return claim.waits() && !answer.isDone();
    }

    /** Begins the next round, unless one is under way. */
    void ask() {
        orFail(() -> {
            QuorumHold known = store.hold(claim.id());
            QuorumHold existing = known == null || known.hasEnded() ? null : known;
            QuorumRound next = next(existing);
            if (next != null) {
                next.start().whenComplete((result, failure) -> orFail(() -> decided(next, existing, result)));
            }
        });
    }

    /** The round to ask in; null if it is not the time for one. */
    private @Nullable QuorumRound next(@Nullable QuorumHold existing) {
        mutex.lock();
        try {
            if (phase != Phase.PAUSING || cancelled) {
                return null;
            }
            phase = Phase.ASKING;
            timer.cancel();
            ClaimId id = existing != null ? existing.round : rounds == 0 ? claim.id() : ClaimId.random();
            rounds++;
            round = new QuorumRound(members, claim, id, lost);
            return round;
        } finally {
            mutex.unlock();
        }
    }

    /** An Error, such as of memory, must not leave it between two phases for ever. */
    private void orFail(Runnable step) {
        try {
            step.run();
        } catch (Throwable broken) {
            fail(broken);
        }
    }

    private void decided(QuorumRound asked, @Nullable QuorumHold existing, QuorumRound.Result result) {
        if (result.grant() != null && result.hold() != null) {
            won(asked, result.hold(), result.grant());
            return;
        }
        boolean mayUndo = existing == null; // a valid grant is not released because a repetition failed
        CompletableFuture<?> undone = mayUndo ? asked.undo() : CompletableFuture.completedFuture(null);
        if (claim.waits()) {
            pauseOrLeave(result);
        } else if (result.why() != null) {
            fail(result.why());
        } else {
            undone.whenComplete((done, failure) -> orFail(() -> decideTry(result)));
        }
    }

    private void won(QuorumRound asked, QuorumHold hold, Grant grant) {
        mutex.lock();
        try {
            phase = Phase.ANSWERED;
        } finally {
            mutex.unlock();
        }
        store.won(hold, grant);
        if (!answer.complete(Optional.of(grant))) {
            store.forget(hold);
            asked.undo(); // the claim was closed meanwhile
        }
        reachable();
    }

    // ---- a claim that does not wait ----

    private void decideTry(QuorumRound.Result result) {
        switch (result.outcome()) {
            case SPLIT -> againOr(members.time().nanoTime() - until < 0);
            case PERHAPS_HELD -> againOr(++doubts < MOST_DOUBTS);
            default -> end(Optional.empty());
        }
    }

    private void againOr(boolean again) {
        if (again) {
            pause(splitPause());
        } else {
            end(Optional.empty());
        }
    }

    // ---- a claim that waits ----

    private void pauseOrLeave(QuorumRound.Result result) {
        RuntimeException why = result.why();
        if (why != null && !(why instanceof StoreUnavailableException)) {
            fail(why);
            return;
        }
        boolean leaves;
        mutex.lock();
        try {
            leaves = cancelled;
        } finally {
            mutex.unlock();
        }
        if (leaves) {
            leave();
            return;
        }
        switch (result.outcome()) {
            case UNAVAILABLE, TOO_LATE -> {
                unreachable(why);
                pause(Pauses.beforeRetry(failures.getAndIncrement()));
            }
            case SPLIT -> {
                reachable();
                pause(splitPause());
            }
            default -> {
                reachable();
                pause(between(FIRST_POLL_NANOS << Math.min(polls++, MOST_DOUBLINGS)));
            }
        }
    }

    /** The remaining members cannot grant anything. */
    void unreachable(@Nullable RuntimeException why) {
        store.unreachable(
                claim.name(), why == null ? new StoreUnavailableException("too few members are connected") : why);
    }

    private void reachable() {
        failures.set(0);
        store.reachable(); // perhaps another claim, which has left, reported that it is not
    }

    private long splitPause() {
        return between(FIRST_SPLIT_NANOS << Math.min(splits++, MOST_SPLIT_DOUBLINGS));
    }

    /** A random time up to this: claims that collided once should not collide again. */
    private static long between(long mostNanos) {
        return ThreadLocalRandom.current().nextLong(mostNanos / 8, mostNanos + 1);
    }

    private void pause(long nanos) {
        boolean leaves;
        mutex.lock();
        try {
            if (phase != Phase.ASKING) {
                return;
            }
            leaves = cancelled;
            phase = Phase.PAUSING;
            if (!leaves) {
                timer = members.later(this::ask, Duration.ofNanos(nanos));
            }
        } finally {
            mutex.unlock();
        }
        if (leaves) {
            leave();
        }
    }

    @Override
    public void cancel() {
        boolean now;
        mutex.lock();
        try {
            now = !cancelled && claim.waits() && phase == Phase.PAUSING;
            cancelled |= claim.waits();
            timer.cancel();
        } finally {
            mutex.unlock();
        }
        if (now) {
            orFail(this::leave);
        }
    }

    private void leave() {
        mutex.lock();
        try {
            if (phase == Phase.LEAVING || phase == Phase.ANSWERED) {
                return;
            }
            phase = Phase.LEAVING;
        } finally {
            mutex.unlock();
        }
        store.withdraw(claim).whenComplete((done, failure) -> {
            if (failure == null) {
                end(Optional.empty());
            } else {
                Throwable cause = RedisErrors.unwrapped(failure);
                fail(
                        cause instanceof RuntimeException known
                                ? known
                                : new StoreRefusedException("cannot leave", cause));
            }
        });
    }

    /** Gives up its place, and any grant of the round under way, without an answer to the caller. */
    CompletableFuture<?> giveUp() {
        QuorumRound last;
        mutex.lock();
        try {
            phase = Phase.LEAVING;
            timer.cancel();
            last = round;
        } finally {
            mutex.unlock();
        }
        CompletableFuture<?> withdrawn = store.withdraw(claim).toCompletableFuture();
        return last == null || last.id().equals(claim.id())
                ? withdrawn
                : CompletableFuture.allOf(
                        withdrawn,
                        members.ask(
                                member -> QuorumScripts.release(member, claim.name(), last.id()),
                                given -> true,
                                Duration.ZERO));
    }

    private void end(Optional<Grant> with) {
        answered();
        answer.complete(with);
    }

    void fail(@Nullable Throwable why) {
        answered();
        answer.completeExceptionally(why == null ? new StoreUnavailableException("too few members answered") : why);
    }

    private void answered() {
        mutex.lock();
        try {
            phase = Phase.ANSWERED;
            timer.cancel();
        } finally {
            mutex.unlock();
        }
    }
}
