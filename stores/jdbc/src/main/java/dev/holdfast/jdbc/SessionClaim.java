package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
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
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(2);
    private static final Duration RETRY = Duration.ofMillis(300);
    private static final long FIRST_CANCEL_MILLIS = 50;
    private static final long LONGEST_CANCEL_MILLIS = 1_000;

    private final SessionStore store;
    private final Claim claim;
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final CountDownLatch cancelled = new CountDownLatch(1);
    private volatile @Nullable SessionConnection used;
    /** The session that the present wait asks, and the one in whose queue it has had a place. */
    private volatile @Nullable SessionRows asks;

    private volatile @Nullable SessionRows waitsOn;

    /** Until this claim asks again; null when it does something else. */
    private volatile TimeSource.@Nullable Scheduled pause;
    /** Why the server has said nothing of late; null when it has. */
    private volatile @Nullable HoldfastException unanswered;

    SessionClaim(SessionStore store, Claim claim) {
        this.store = store;
        this.claim = claim;
    }

    CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    /** Begins, or begins again. A lock that is free is acquired beside all others, on the first session. */
    void ask() {
        orFail(() -> {
            pause = null;
            if (!ended()) {
                SessionConnection first = store.sessions().first();
                first.ask("claim", claim.name(), locks -> attempt(first, locks))
                        .whenComplete((grant, failure) -> orFail(() -> onAttempt(grant, failure)));
            }
        });
    }

    /** Whatever a step throws is an answer too, such as that there is no thread: nothing else would go on. */
    private void orFail(Runnable step) {
        try {
            step.run();
        } catch (Throwable broken) {
            fail(SessionOpener.unwrapped(broken));
        }
    }

    private void fail(HoldfastException why) {
        if (answer.completeExceptionally(why)) {
            cancelled.countDown();
            abort(used);
        }
    }

    private Optional<Grant> attempt(SessionConnection first, SessionRows locks) throws SQLException {
        if (cancelled.getCount() == 0) {
            return Optional.empty();
        }
        Optional<Grant> grant = new SessionTurn(first, locks, claim, store.opener()).attempt();
        grant.ifPresent(each -> store.granted(first, each));
        unanswered = null;
        store.reachable();
        return grant;
    }

    private void onAttempt(Optional<Grant> grant, @Nullable Throwable failure) {
        if (failure != null) {
            store.forget(claim); // it may be carried out still
            onFailure(failure);
            return;
        }
        if (grant.isPresent()) {
            deliver(grant);
        } else if (!ended()) {
            SessionConnection own = store.sessions().lend();
            if (own == null) {
                later(store.pollPause());
            } else {
                await(own);
            }
        }
    }

    private void await(SessionConnection own) {
        used = own;
        waitsOn = null;
        own.askWithoutTimeout("wait for", claim.name(), locks -> await(own, locks))
                .whenComplete((grant, failure) -> orFail(() -> onEndOfWait(own, grant, failure)));
        checkServerLater(own, 0);
    }

    private void onEndOfWait(SessionConnection own, Optional<Grant> grant, @Nullable Throwable failure) {
        used = null;
        store.sessions().endOfWait();
        if (failure == null && grant.isPresent()) {
            deliver(grant);
            return;
        }
        store.sessions().returnSession(own, cancelled.getCount() == 0 || failure != null);
        if (ended()) {
            return; // with the session, whatever was left
        }
        if (failure != null) {
            onBrokenWait(failure);
        } else {
            later(store.pollPause());
        }
    }

    /** Called off between two statements, the session may have the server's lock already. */
    private Optional<Grant> await(SessionConnection own, SessionRows locks) throws SQLException {
        SessionRows before = waitsOn;
        if (before != null && before != locks) {
            waitsOn = null;
            reportLostPlace();
        }
        asks = locks;
        if (cancelled.getCount() == 0) {
            locks.unlockAll();
            return Optional.empty();
        }
        Optional<Grant> grant = new SessionTurn(own, locks, claim, store.opener()).await(this::pause);
        grant.ifPresent(each -> store.granted(own, each));
        return grant;
    }

    /**
     * A server that is gone without a message leaves the statement waiting for ever. Where the first session is not answered
     * either, twice, this one is cut, and the claim is repeated.
     */
    private void checkServer(SessionConnection own, int failures) {
        if (used != own || answer.isDone()) {
            return;
        }
        store.ping()
                .whenComplete((answers, failure) -> orFail(() -> {
                    unanswered = failure == null ? null : SessionOpener.unwrapped(failure);
                    if (failure == null) {
                        store.reachable();
                        checkServerLater(own, 0);
                    } else if (used == own) {
                        store.unreachable(claim.name(), SessionOpener.unwrapped(failure));
                        if (failures > 0) {
                            abort(own);
                        }
                        checkServerLater(own, failures + 1);
                    }
                }));
    }

    private void checkServerLater(SessionConnection own, int failures) {
        store.opener().time().schedule(() -> orFail(() -> checkServer(own, failures)), CHECK_INTERVAL);
    }

    /** Ends a wait. It may take long, so a thread does it; as long as there is none, the timer tries again. */
    private void abort(@Nullable SessionConnection own) {
        if (own == null || used != own) {
            return; // it has ended
        }
        try {
            start("holdfast-abort", own::abort);
        } catch (StoreRefusedException noThread) {
            store.opener().time().schedule(() -> abort(own), CHECK_INTERVAL);
        }
    }

    private void start(String name, Runnable work) {
        store.opener().start(store.opener().thread(name, work));
    }

    private boolean pause(Duration time) {
        waitsOn = asks;
        try {
            return !cancelled.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void deliver(Optional<Grant> grant) {
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

    /**
     * The first session answered, so this is probably a limit of connections, or the session that waited was ended alone.
     * If not, the next attempt reports it.
     */
    private void onBrokenWait(Throwable failure) {
        HoldfastException why = SessionOpener.unwrapped(failure);
        if (!(why instanceof StoreUnavailableException)) {
            onFailure(why);
            return;
        }
        if (waitsOn != null
                && why.getCause() instanceof SQLException broken
                && store.opener().errors().isBroken(broken)) {
            reportLostPlace();
        }
        unanswered = why;
        later(RETRY);
    }

    private void reportLostPlace() {
        SqlSession.warn("the connection on which the claim of '" + claim.name() + "' waited on " + store.description()
                + " was ended, and its place with it; the claim goes on at the end of the queue");
    }

    private void later(Duration about) {
        long nanos = about.toNanos();
        long jittered = ThreadLocalRandom.current().nextLong(nanos / 2, nanos * 3 / 2);
        pause = store.opener().time().schedule(this::ask, Duration.ofNanos(jittered));
        endPause(); // cancelled meanwhile
    }

    /** A claim that is cancelled in a pause has nothing to call off. */
    private void endPause() {
        TimeSource.Scheduled asking = pause;
        if (asking != null && cancelled.getCount() == 0) {
            asking.cancel();
            store.opener().time().schedule(this::ended, Duration.ZERO);
        }
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

    /** A statement that waits is cancelled, again and again: one request may arrive before it begins. */
    @Override
    public void cancel() {
        if (answer.isDone() || cancelled.getCount() == 0) {
            return;
        }
        cancelled.countDown();
        orFail(() -> {
            endPause();
            if (used != null) {
                start("holdfast-cancel", this::cancelStatement);
            }
            store.opener().time().schedule(this::giveUp, SessionOpener.ANSWER);
        });
    }

    private void cancelStatement() {
        long until = System.nanoTime() + SessionOpener.ANSWER.toNanos();
        long pauseMillis = FIRST_CANCEL_MILLIS; // each request is a connection, for a server that may have too many
        for (SessionConnection waiting = used;
                waiting != null && !answer.isDone() && System.nanoTime() - until < 0;
                waiting = used) {
            try {
                waiting.cancelStatement();
                answer.get(pauseMillis, TimeUnit.MILLISECONDS);
            } catch (SQLException | InterruptedException | ExecutionException | TimeoutException e) {
                pauseMillis = Math.min(2 * pauseMillis, LONGEST_CANCEL_MILLIS); // once more, until it is over
            }
        }
    }

    private void giveUp() {
        fail(new StoreUnavailableException(store.opener().errors().cannot("cancel the claim of", claim.name())
                + ": the server has not answered; check that it is running"));
    }

    /** The store closes, and with it the session that waits. */
    void end(HoldfastException why) {
        answer.completeExceptionally(why);
        cancelled.countDown();
        SessionConnection waiting = used;
        if (waiting != null) {
            waiting.close(why);
            waiting.cancelUntilEnd();
        }
    }
}
