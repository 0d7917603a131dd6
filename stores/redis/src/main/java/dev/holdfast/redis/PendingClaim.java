package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Answer;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One waiting claim.
 *
 * <pre>
 *   ask ──► ASKING ── granted ────────────────────────────► answered
 *    ▲        │  ▲                                             ▲
 *    │        │  └─ a notice arrived meanwhile: ask again      │
 *    │   not yet │                                             │
 *    │        ▼  │ offer, poll, subscription back              │
 *    └───── RESTING ── cancel ──► LEAVING ── place given up ───┘
 * </pre>
 *
 * <p>Every question is the same script, claim under this id, for every reason: it confirms an offer, keeps the place,
 * or enters the queue again. Questions go one at a time: each answer decides the next step. The first claim of a client
 * that has to wait enters the queue before the client can receive offers, to keep its place; then the client
 * subscribes, and the claim asks again. A wait outlives an outage of the server; only a refusal ends it. Thread-safe.
 */
final class PendingClaim implements Pending {
    private static final Runnable NOTHING = () -> {};

    private enum Phase {
        RESTING,
        ASKING,
        LEAVING,
        ANSWERED
    }

    private final Claim claim;
    private final PendingClaims waiters;
    private final Answer answer;
    private final ReentrantLock mutex = new ReentrantLock();
    private Phase phase = Phase.RESTING;
    private boolean askAgain;
    private boolean cancelled;
    /** Not null once the client is closing: the claim asks no more, and its place is given up. */
    private volatile @Nullable CompletableFuture<Void> left;

    /** Passed over once, though its client was subscribed. It polls until it is subscribed anew, and says that it hears nothing. */
    private boolean missed;

    private int failures;
    private int failedSubscriptions;
    /** The microsecond of arrival under which the server keeps the place of this claim; 0 before it has one. */
    private String place = "0";

    private TimeSource.@Nullable Scheduled nextPoll;

    PendingClaim(Claim claim, Answer answer, PendingClaims waiters) {
        this.claim = claim;
        this.answer = answer;
        this.waiters = waiters;
    }

    Claim claim() {
        return claim;
    }

    /** Asks the server whether it is the turn of this claim, now or as soon as the question under way is answered. */
    void ask() {
        try {
            mutex.lock();
            try {
                if (phase != Phase.RESTING) {
                    askAgain = phase == Phase.ASKING;
                    return;
                }
                beginToAsk();
            } finally {
                mutex.unlock();
            }
            send();
        } catch (Throwable broken) {
            end(broken);
        }
    }

    /** Its client is subscribed anew, where the lock is now. */
    void hearsAgain() {
        step(() -> {
            missed = false;
            return NOTHING;
        });
        ask();
    }

    @Override
    public void cancel() {
        step(() -> {
            cancelled = true;
            return phase == Phase.RESTING ? leaving() : NOTHING;
        });
    }

    /**
     * The client is closing, and {@link #end} follows. The place is given up after the question under way, which would
     * take it again; completes when that is done.
     */
    CompletableFuture<Void> leave() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        step(() -> {
            left = done;
            return switch (phase) {
                case RESTING -> leavingForGood();
                case ASKING, LEAVING -> NOTHING; // what is under way does the same
                case ANSWERED -> this::hasLeft;
            };
        });
        return done;
    }

    /** The client is closed, or an Error, such as of memory, came between two phases: it must not stay in one for ever. */
    void end(Throwable why) {
        run(() -> phase == Phase.ANSWERED ? NOTHING : failed(why));
    }

    private void beginToAsk() {
        phase = Phase.ASKING;
        askAgain = false;
        stopPolling();
    }

    /** Sends the question; nobody changes the place before its answer. */
    private void send() {
        // where it was passed over, its subscription may be at another server than the lock
        boolean hears = waiters.offers.isSubscribed(claim.name()) && !missed;
        Scripts.Place mine = new Scripts.Place(waiters.offers.channel(), place, waiters.poll, hears);
        waiters.scripts.claim(claim, mine, (said, failure) -> {
            try {
                told(said, failure, hears);
            } catch (Throwable broken) {
                end(broken);
            }
        });
    }

    private void told(@Nullable ClaimAnswer said, @Nullable Throwable failure, boolean heard) {
        if (said == null) {
            step(() -> notAnswered(Objects.requireNonNull(failure)));
        } else if (said.grant().isEmpty() || !takes(said.grant().get())) {
            waiters.reachable(claim); // a grant that is taken tells the engine by itself
            step(() -> answered(said, heard && waiters.offers.isSubscribed(claim.name())));
        }
    }

    /** The common answer: granted, and still wanted. */
    private boolean takes(Grant grant) {
        mutex.lock();
        try {
            if (phase != Phase.ASKING || left != null || cancelled) {
                return false;
            }
            phase = Phase.ANSWERED;
        } finally {
            mutex.unlock();
        }
        try {
            waiters.forget(this);
        } finally {
            answer.granted(grant);
        }
        return true;
    }

    private Runnable answered(ClaimAnswer said, boolean subscribed) {
        failures = 0;
        if (phase != Phase.ASKING) {
            return NOTHING; // the client is closed
        }
        if (left != null) {
            return leavingForGood();
        }
        if (cancelled) {
            return leaving(); // also with a grant: the caller may have admitted the next claim already
        }
        if (said.place().isEmpty()) {
            return gone(); // the server knows that it was withdrawn
        }
        place = said.place();
        missed |= said.missed();
        if (askAgain) {
            beginToAsk();
            return this::send;
        }
        Runnable then = resting(waiters.nextPoll(said, subscribed && !missed));
        // A lost subscription is restored automatically; then every waiter polls again.
        boolean subscribes = waiters.offers.isSubscribed(claim.name())
                ? !subscribed && !missed
                : !waiters.offers.wasSubscribed(claim.name());
        return subscribes && phase == Phase.RESTING ? this::subscribe : then;
    }

    private void subscribe() {
        waiters.offers.subscribe(claim.name()).whenComplete((open, failure) -> {
            if (failure == null) {
                ask();
            } else {
                step(() -> phase == Phase.RESTING
                        ? notSubscribed(waiters.scripts.errors().of(failure))
                        : NOTHING);
            }
        });
    }

    /** No subscription for now: the server answers claims, so the claim polls, and tries to subscribe each time. */
    private Runnable notSubscribed(Throwable failure) {
        return failure instanceof StoreRefusedException ? failed(failure) : resting(retryDelay(failedSubscriptions++));
    }

    private Runnable notAnswered(Throwable failure) {
        if (phase == Phase.ANSWERED) {
            return NOTHING;
        }
        if (left != null) {
            return leavingForGood();
        }
        if (failure instanceof StoreRefusedException || cancelled || waiters.scripts.isClosed()) {
            return failed(failure);
        }
        Runnable rest = resting(retryDelay(failures++));
        return () -> {
            rest.run();
            waiters.unreachable(claim, failure);
        };
    }

    private static Duration retryDelay(int before) {
        return Duration.ofNanos(Pauses.beforeRetry(before));
    }

    private Runnable resting(Duration until) {
        phase = Phase.RESTING;
        stopPolling();
        try {
            nextPoll = waiters.time.schedule(this::ask, until);
        } catch (IllegalStateException | RejectedExecutionException stopped) {
            return failed(waiters.scripts.errors().of(stopped)); // the owner of a lent client stopped its timer
        }
        return NOTHING;
    }

    private Runnable leaving() {
        phase = Phase.LEAVING;
        stopPolling();
        return () -> waiters.leave(claim.name(), claim.id(), claim.mode())
                .whenComplete((left, failure) ->
                        step(() -> failure == null ? gone() : failed(RedisErrors.unwrapped(failure))));
    }

    private Runnable leavingForGood() {
        phase = Phase.LEAVING;
        stopPolling();
        return () -> waiters.leave(claim.name(), claim.id(), claim.mode()).whenComplete((done, failure) -> hasLeft());
    }

    private Runnable gone() {
        return telling(answer::refused);
    }

    private Runnable failed(Throwable why) {
        return telling(() -> answer.failed(why));
    }

    private Runnable telling(Runnable tells) {
        stopPolling();
        Runnable then = () -> {
            try {
                waiters.forget(this);
            } finally {
                tells.run();
                hasLeft();
            }
        };
        phase = Phase.ANSWERED; // last: nothing that fails may come between it and the answer
        return then;
    }

    private void hasLeft() {
        CompletableFuture<Void> awaited = left;
        if (awaited != null) {
            awaited.complete(null);
        }
    }

    private void stopPolling() {
        if (nextPoll != null) {
            nextPoll.cancel();
            nextPoll = null;
        }
    }

    private void step(Supplier<Runnable> transition) {
        try {
            run(transition);
        } catch (Throwable broken) {
            end(broken);
        }
    }

    private void run(Supplier<Runnable> transition) {
        Runnable then;
        mutex.lock();
        try {
            then = transition.get();
        } finally {
            mutex.unlock();
        }
        then.run();
    }
}
