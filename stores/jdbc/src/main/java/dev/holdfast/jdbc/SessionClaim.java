package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.support.DaemonThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A claim that waits in the server's queue, on a session of its own; where no more sessions may be opened, it asks again
 * and again instead. It outlives a server that is away.
 */
final class SessionClaim implements Pending {
    private static final Duration POLL = Duration.ofMillis(40);
    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final Duration RETRY = Duration.ofMillis(300);
    private static final Duration CALL_OFF_EVERY = Duration.ofMillis(50);

    private final SessionStore store;
    private final Claim claim;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final CountDownLatch cancelled = new CountDownLatch(1);
    private volatile @Nullable SessionConnection used;
    /** Why the server has said nothing of late; null when it has. */
    private volatile @Nullable HoldfastException unanswered;

    SessionClaim(SessionStore store, Claim claim) {
        this.store = store;
        this.claim = claim;
    }

    @Override
    public CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    /** Begins, or begins anew. A lock that is free is acquired beside all others, on the first session. */
    void ask() {
        if (ended()) {
            return;
        }
        SessionConnection first = store.first();
        first.ask("claim", claim.name(), locks -> attempt(first, locks))
                .whenComplete((grant, failure) -> onAttempt(grant, failure));
    }

    private Optional<Grant> attempt(SessionConnection first, SessionRows locks) throws SQLException {
        return cancelled.getCount() == 0
                ? Optional.empty()
                : new SessionTurn(first, locks, claim, store.opener()).attempt();
    }

    private void onAttempt(Optional<Grant> grant, @Nullable Throwable failure) {
        if (failure != null) {
            store.forget(claim); // it may be carried out still
            onFailure(failure);
            return;
        }
        unanswered = null;
        if (grant.isPresent()) {
            deliver(store.first(), grant);
        } else if (!ended()) {
            SessionConnection own = store.lend();
            if (own == null) {
                later(POLL);
            } else {
                await(own);
            }
        }
    }

    private void await(SessionConnection own) {
        used = own;
        store.opener().time().schedule(() -> look(own, 0), LOOK);
        own.askPatiently("wait for", claim.name(), locks -> await(own, locks)).whenComplete((grant, failure) -> {
            used = null;
            if (failure == null && grant.isPresent()) {
                deliver(own, grant);
            } else {
                store.giveBack(own, cancelled.getCount() == 0 || failure != null);
                if (cancelled.getCount() == 0) {
                    answer.complete(Optional.empty()); // with the session, whatever was left
                } else if (failure != null) {
                    onFailure(failure);
                } else {
                    later(POLL);
                }
            }
        });
    }

    /** Called off between two statements, the session may have the server's lock already. */
    private Optional<Grant> await(SessionConnection own, SessionRows locks) throws SQLException {
        if (cancelled.getCount() == 0) {
            locks.unlockAll();
            return Optional.empty();
        }
        return new SessionTurn(own, locks, claim, store.opener()).await(this::patience);
    }

    /**
     * A server that is gone without a word leaves the statement waiting for ever. Where the first session is not answered
     * either, twice, this one is cut, and the claim made anew.
     */
    private void look(SessionConnection own, int failures) {
        if (used != own || answer.isDone()) {
            return;
        }
        store.look().whenComplete((answers, failure) -> {
            if (failure == null) {
                store.opener().time().schedule(() -> look(own, 0), LOOK);
            } else if (used == own) {
                store.unreachable(claim.name(), SessionOpener.unwrapped(failure));
                if (failures > 0) {
                    DaemonThreads.daemon("holdfast-abort", own::abort).start();
                } else {
                    store.opener().time().schedule(() -> look(own, 1), LOOK);
                }
            }
        });
    }

    private boolean patience(Duration time) {
        try {
            return !cancelled.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void deliver(SessionConnection from, Optional<Grant> grant) {
        store.granted(from, grant.orElseThrow());
        if (!answer.complete(grant)) {
            store.release(grant.orElseThrow()); // it failed meanwhile
        }
    }

    private void onFailure(Throwable failure) {
        HoldfastException why = SessionOpener.unwrapped(failure);
        if (why instanceof StoreRefusedException || why instanceof ClientClosedException || cancelled.getCount() == 0) {
            answer.completeExceptionally(why);
        } else {
            unanswered = why;
            store.unreachable(claim.name(), why);
            later(RETRY);
        }
    }

    private void later(Duration about) {
        long nanos = about.toNanos();
        long jittered = ThreadLocalRandom.current().nextLong(nanos / 2, nanos * 3 / 2);
        store.opener().time().schedule(this::ask, Duration.ofNanos(jittered));
    }

    private boolean ended() {
        if (cancelled.getCount() == 0) {
            HoldfastException why = unanswered;
            if (why == null) {
                answer.complete(Optional.empty());
            } else {
                answer.completeExceptionally(why);
            }
        }
        return answer.isDone();
    }

    /** The statement that waits is called off, again and again: one word may come before it begins. */
    @Override
    public void cancel() {
        if (answer.isDone() || cancelled.getCount() == 0) {
            return;
        }
        cancelled.countDown();
        DaemonThreads.daemon("holdfast-cancel", this::callOff).start();
        store.opener().time().schedule(this::giveUp, SessionOpener.ANSWER);
    }

    private void callOff() {
        long until = System.nanoTime() + SessionOpener.ANSWER.toNanos();
        while (!answer.isDone() && System.nanoTime() - until < 0) {
            SessionConnection waiting = used;
            try {
                if (waiting != null) {
                    waiting.callOff();
                }
                answer.get(CALL_OFF_EVERY.toNanos(), TimeUnit.NANOSECONDS);
            } catch (SQLException | InterruptedException | ExecutionException | TimeoutException e) {
                // and once more, until it is over or too late
            }
        }
    }

    private void giveUp() {
        SessionConnection waiting = used;
        boolean late = answer.completeExceptionally(
                new StoreUnavailableException(store.opener().errors().cannot("cancel the claim of", claim.name())
                        + ": the server has not answered; check that it is running"));
        if (late && waiting != null) {
            DaemonThreads.daemon("holdfast-abort", waiting::abort).start();
        }
    }

    /** The store closes, and with it the session that waits. */
    void end(HoldfastException why) {
        answer.completeExceptionally(why);
        cancelled.countDown();
        SessionConnection waiting = used;
        if (waiting != null) {
            waiting.close(why);
            waiting.callOffUntilEnd();
        }
    }
}
