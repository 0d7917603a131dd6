package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Pauses;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One claim that waits.
 *
 * <pre>
 *   ask ──► ASKING ── granted ────────────────────────────► answered
 *    ▲        │  ▲                                             ▲
 *    │        │  └─ something came meanwhile: ask once more    │
 *    │   not yet │                                             │
 *    │        ▼  │ offer, poll, subscription back              │
 *    └───── RESTING ── cancel ──► LEAVING ── place given up ───┘
 * </pre>
 *
 * <p>Every question is the same script, claim under this id, whatever the reason: it confirms an offer, keeps the place,
 * or enters the queue again. One at a time: its answer tells what to do next. The first claim of a client that has to
 * wait enters the queue before it can hear offers, for the sake of its place; then it subscribes, and asks again. A wait
 * outlives a server that is away; only a refusal ends it. Thread-safe.
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
    private final CompletableFuture<Optional<Grant>> answer = new CompletableFuture<>();
    private final ReentrantLock mutex = new ReentrantLock();
    private Phase phase = Phase.RESTING;
    private boolean askAgain;
    private boolean cancelled;
    /** The client is closing: no more is asked, and the place is given up. */
    private boolean ending;

    private final CompletableFuture<Void> left = new CompletableFuture<>();
    private boolean missed;
    private int failures;
    private int failedSubscriptions;
    /** The microsecond of arrival at which the server keeps our place; 0 before we have one. */
    private String place = "0";

    private TimeSource.@Nullable Scheduled look;

    PendingClaim(Claim claim, PendingClaims waiters) {
        this.claim = claim;
        this.waiters = waiters;
    }

    Claim claim() {
        return claim;
    }

    @Override
    public CompletableFuture<Optional<Grant>> answer() {
        return answer;
    }

    /** Asks the server whether it is our turn, now or as soon as the question under way is answered. */
    void ask() {
        step(() -> switch (phase) {
            case RESTING -> asking();
            case ASKING -> {
                askAgain = true;
                yield NOTHING;
            }
            case LEAVING, ANSWERED -> NOTHING;
        });
    }

    @Override
    public void cancel() {
        step(() -> {
            cancelled = true;
            return phase == Phase.RESTING ? leaving() : NOTHING;
        });
    }

    /**
     * The client is closing, and {@link #end} follows. The place is given up, behind the question under way, which would
     * take it again; completes when that is done.
     */
    CompletableFuture<Void> leave() {
        step(() -> {
            ending = true;
            return switch (phase) {
                case RESTING -> leavingForGood();
                case ASKING -> NOTHING; // its answer leads to the same
                case LEAVING, ANSWERED -> () -> answer.whenComplete((grant, failure) -> left.complete(null));
            };
        });
        return left;
    }

    /** The client is closed. */
    void end(RuntimeException why) {
        step(() -> failed(why));
    }

    private Runnable asking() {
        phase = Phase.ASKING;
        askAgain = false;
        stopLooking();
        Scripts.Place mine = waiters.place(claim.name(), place);
        return () -> waiters.scripts().claim(claim, mine).whenComplete((said, failure) -> {
            if (failure == null) {
                waiters.reachable(claim);
            }
            step(() -> failure == null
                    ? heard(said, mine.hears() && waiters.offers().hears(claim.name()))
                    : unheard(failure));
        });
    }

    private Runnable heard(ClaimAnswer said, boolean hears) {
        failures = 0;
        if (phase != Phase.ASKING) {
            return NOTHING; // the client is closed
        }
        if (ending) {
            return leavingForGood();
        }
        if (cancelled) {
            return leaving(); // also with a grant: who called it off may have let the next one in already
        }
        if (said.grant().isPresent()) {
            phase = Phase.ANSWERED;
            return () -> answer.complete(said.grant());
        }
        if (said.place().isEmpty()) {
            return gone(); // the server knows that it was withdrawn
        }
        place = said.place();
        missed |= said.missed();
        if (askAgain) {
            return asking();
        }
        Runnable then = resting(waiters.nextLook(said, hears && !missed));
        // A lost subscription is restored automatically; then every waiter polls again.
        boolean subscribes = !hears
                && (waiters.offers().hears(claim.name()) || !waiters.offers().isOpen(claim.name()));
        return subscribes && phase == Phase.RESTING ? this::openEar : then;
    }

    private void openEar() {
        waiters.offers().open(claim.name()).whenComplete((open, failure) -> {
            if (failure == null) {
                ask();
            } else {
                step(() ->
                        phase == Phase.RESTING ? deaf(waiters.scripts().errors().of(failure)) : NOTHING);
            }
        });
    }

    /** No subscription for now: the server answers claims, so it polls, and tries to subscribe again each time. */
    private Runnable deaf(Throwable failure) {
        return failure instanceof StoreRefusedException ? failed(failure) : resting(retryDelay(failedSubscriptions++));
    }

    private Runnable unheard(Throwable wrapped) {
        Throwable failure = RedisErrors.unwrapped(wrapped);
        if (phase == Phase.ANSWERED) {
            return NOTHING;
        }
        if (ending) {
            return leavingForGood();
        }
        if (failure instanceof StoreRefusedException
                || cancelled
                || waiters.scripts().isClosed()) {
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
        stopLooking();
        try {
            look = waiters.time().schedule(this::ask, until);
        } catch (IllegalStateException | RejectedExecutionException stopped) {
            return failed(waiters.scripts().errors().of(stopped)); // the timer of a lent client, by its owner
        }
        return NOTHING;
    }

    private Runnable leaving() {
        phase = Phase.LEAVING;
        stopLooking();
        return () -> waiters.leave(claim.name(), claim.id(), claim.mode())
                .whenComplete((left, failure) ->
                        step(() -> failure == null ? gone() : failed(RedisErrors.unwrapped(failure))));
    }

    private Runnable leavingForGood() {
        phase = Phase.LEAVING;
        stopLooking();
        return () -> waiters.leave(claim.name(), claim.id(), claim.mode())
                .whenComplete((done, failure) -> left.complete(null));
    }

    private Runnable gone() {
        phase = Phase.ANSWERED;
        return () -> answer.complete(Optional.empty());
    }

    private Runnable failed(Throwable why) {
        phase = Phase.ANSWERED;
        stopLooking();
        return () -> answer.completeExceptionally(why);
    }

    private void stopLooking() {
        if (look != null) {
            look.cancel();
            look = null;
        }
    }

    private void step(Supplier<Runnable> transition) {
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
