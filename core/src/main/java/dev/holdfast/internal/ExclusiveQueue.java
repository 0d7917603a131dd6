package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.Loss;
import dev.holdfast.UnsupportedByStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One lock of one client: the queue of its local waiters, and the one claim or grant that stands for all of them in the
 * store.
 *
 * <pre>
 *            first waiter                 granted                    closed, someone waits here
 *   IDLE ───────────────► CLAIMING ───────────────► HELD ◄─────────────────────────────┐
 *    ▲ ▲                      │ ▲                    │ │  within the bounds: at once ──┤  hand-over
 *    │ └── nobody left ───────┘ │  someone waits     │ └► else ► REFRESHING ───────────┘  fresh number, or renewed
 *    │                          │                    │               │ others wait in the store, or it failed
 *    │                          └──────── RELEASING ◄┴───────────────┘
 *    └───────────────── nobody waits ─────────┘
 * </pre>
 *
 * <p>Waiters are served in the order they came. {@link ClaimingQueue} makes the claims. {@link ExclusiveGrant} decides how a
 * grant passes from one hold to the next, lingers, is retained and is released. No claim overtakes a release of its own
 * client: claims of readers, which wait in a queue of their own, follow it too.
 *
 * <p>Joining the queue takes no lock. A thread that ends a phase writes the next phase first and reads the queue after
 * that. A thread that joins writes the queue first and reads the phase after that, so that one of the two sees the other.
 * The phase changes under a small mutex, which in practice only the closing holder takes. Thread-safe.
 */
final class ExclusiveQueue extends ClaimingQueue {
    private volatile @Nullable ExclusiveGrant grant;
    /** Claims for the name in other ways, which come behind the release under way. */
    private List<Runnable> claimsBehind = new ArrayList<>();

    /** A lock that no caller wants yet. */
    ExclusiveQueue(EngineContext context, LockName name) {
        super(context, name);
    }

    /** The open hold, if there is one. */
    private @Nullable HoldState hold() {
        ExclusiveGrant live = grant;
        return live == null ? null : live.hold();
    }

    @Override
    public void forEachHoldOf(GrantState of, Consumer<HoldState> action) {
        HoldState now = hold();
        if (now != null && now.grant == of) {
            action.accept(now);
        }
    }

    // ---- what callers do ----

    @Override
    boolean submit(Waiter waiter) {
        return waiter.waits ? join(waiter) : tryOnce(waiter);
    }

    private boolean join(Waiter waiter) {
        waiters.add(waiter);
        return switch (phase()) {
            case IDLE -> {
                transition(this::nextIfIdle);
                yield true;
            }
            case LINGERING, RETAINED -> {
                transition(this::takeUnused);
                yield true; // if it cannot, the thread that ends that phase reads the queue
            }
            case RETIRED -> !waiters.remove(waiter); // no thread reads this queue any more, unless one just did
            case CLAIMING, HELD, REFRESHING, RELEASING -> {
                warnIfItsOwn(waiter);
                noteWantedHere();
                yield true; // the thread that ends that phase reads the queue
            }
        };
    }

    /** A caller that does not wait never joins the queue: it makes a claim of its own, or gets nothing. */
    private boolean tryOnce(Waiter waiter) {
        AtomicBoolean accepted = new AtomicBoolean(true);
        transition(() -> {
            if (isIn(QueuePhase.RETIRED)) {
                accepted.set(false);
                return NOTHING;
            }
            if (isIn(QueuePhase.IDLE) && waiters.isEmpty()) {
                return claim(waiter);
            }
            ExclusiveGrant live = grant;
            boolean isFirst = waiters.isEmpty();
            Optional<Runnable> taken = live != null && isFirst ? live.tryUnused(waiter) : Optional.empty();
            if (taken.isPresent()) {
                return taken.get();
            }
            Runnable back = live != null && isFirst && isIn(QueuePhase.RETAINED) ? live.endRetention() : NOTHING;
            boolean goesBack = isIn(QueuePhase.RELEASING)
                    || isIn(QueuePhase.LINGERING)
                    || isIn(QueuePhase.RETAINED); // lost meanwhile
            boolean wanted = !goesBack && !isIn(QueuePhase.REFRESHING) && unwanted() == null;
            if (!wanted && waiters.isEmpty() && !hasTry()) {
                tryNext(waiter); // behind this client's own release, or its claim or grant that nobody wants any more
                // the caller that left may not have withdrawn it yet, and will not once another caller has joined
                return both(back, afterLeaving());
            }
            return both(back, waiters.refuse(waiter)); // another of this client holds it, or is before this one
        });
        return accepted.get();
    }

    @Override
    public CompletableFuture<Boolean> endHold(HoldState closing) {
        CompletableFuture<Boolean> givenBack = new CompletableFuture<>();
        transition(() -> {
            GrantOwner now = closing.grant.owner();
            if (now != this) { // it has just become a reader's
                return () -> now.endHold(closing).thenAccept(givenBack::complete);
            }
            ExclusiveGrant live = grant;
            if (live == null || live.state != closing.grant) {
                givenBack.complete(false);
                return NOTHING;
            }
            return live.close(closing, givenBack);
        });
        return givenBack;
    }

    @Override
    public boolean stopRenewal(HoldState of, Loss.Cause cause) {
        mutex.lock();
        try {
            if (of.grant.owner() == this) {
                return hold() == of && of.grant.renewal().stop(cause);
            }
        } finally {
            mutex.unlock();
        }
        return of.grant.owner().stopRenewal(of, cause); // it has just become a reader's
    }

    @Override
    boolean isSurelyHeldHere() {
        ExclusiveGrant live = grant; // without a hold it is about to go on or back, for which the store has to answer
        return live != null && live.state.isValid() && live.hold() != null;
    }

    /** Whether a caller of this client waits for an exclusive hold, and did not come after this one. */
    boolean isWaitedForBefore(Waiter other) {
        Waiter first = waiters.first();
        return first != null && first.since - other.since <= 0;
    }

    /** The grant goes to the readers of this client with its hold; the waiters here claim again. */
    @Override
    public boolean downgrade(HoldState held) {
        AtomicBoolean moved = new AtomicBoolean();
        transition(() -> {
            ExclusiveGrant live = grant;
            Optional<Runnable> then = live == null ? Optional.empty() : live.passToReaders(held);
            moved.set(then.isPresent());
            return then.orElse(NOTHING);
        });
        return moved.get();
    }

    /** A caller of this client waits for the open hold. */
    private void noteWantedHere() {
        HoldState now = hold();
        if (now != null && now.awaitsWanted()) {
            now.noteWanted();
            context.flush();
        }
    }

    @Override
    public void checkReportsWanted() {
        if (!context.capabilities().wanted()) {
            throw new UnsupportedByStoreException(context.description() + " does not report when others wait for '"
                    + name + "': ask the status of the lock, or use another store");
        }
    }

    @Override
    public void watch(HoldState held) {
        transition(() -> {
            ExclusiveGrant live = grant;
            return live == null ? NOTHING : live.watchFor(held);
        });
    }

    // ---- what the store and the renewer report ----

    @Override
    public void confirmed(GrantState standing) {
        super.confirmed(standing);
        ExclusiveGrant live = grant;
        if (live != null && live.state == standing && live.hold() == null) {
            transition(live::confirmed);
        }
    }

    @Override
    public void wanted(GrantState of) {
        transition(() -> {
            ExclusiveGrant live = grant;
            return live != null && live.state == of ? live.wanted() : NOTHING;
        });
    }

    @Override
    Runnable granted(ClaimInFlight of, GrantState live) {
        if (of.isKnownLost()) {
            context.renewer().forget(live);
            return both(() -> context.releaseSender().withdraw(of.claim), next()); // for the waiters: claimed again
        }
        ExclusiveGrant begun = new ExclusiveGrant(this, live);
        grant = begun;
        return begun.begin(of);
    }

    @Override
    public void grantLost(GrantState lost, Loss.Cause cause) {
        transition(() -> {
            if (lost.owner() != this) {
                return () -> lost.owner().grantLost(lost, cause); // it has just become a reader's
            }
            ExclusiveGrant live = grant;
            return live != null && live.state == lost ? live.lost(cause) : NOTHING;
        });
    }

    /** The release under way was sent, or answered where that counts. */
    void claimsMayFollow() {
        transition(() -> {
            List<Runnable> claims = claimsBehind;
            claimsBehind = new ArrayList<>();
            return both(next(), all(claims));
        });
    }

    @Override
    void shutDown(Throwable closed) {
        transition(() -> {
            ExclusiveGrant held = grant;
            Runnable callOff =
                    claims().findFirst().<Runnable>map(claim -> claim::cancel).orElse(NOTHING);
            Runnable lose = held == null ? NOTHING : () -> context.renewer().lose(held.state, Loss.Cause.CLIENT_CLOSED);
            return both(both(waiters.failAll(closed), callOff), lose);
        });
        owners.clear();
        transition(this::nextIfIdle);
    }

    // ---- transitions: called under the mutex, return what is to be done after it ----

    @Override
    void claimBehind(Runnable claim) {
        behind(claim, true);
    }

    @Override
    void behindReleases(Runnable then) {
        behind(then, false);
    }

    private void behind(Runnable claim, boolean retainedToo) {
        transition(() -> {
            ExclusiveGrant live = grant;
            Runnable back = live == null
                    ? NOTHING
                    : retainedToo && isIn(QueuePhase.RETAINED) ? live.endRetention() : endOfLinger(live);
            if (!isIn(QueuePhase.RELEASING)) {
                return both(back, claim);
            }
            claimsBehind.add(claim);
            return back;
        });
    }

    /** The store is about to send, while a grant of this queue lingers. */
    Runnable endOfLinger(ExclusiveGrant live) {
        return isIn(QueuePhase.LINGERING) && grant == live ? live.endOfLinger() : NOTHING;
    }

    /** A caller came while the grant lingers or is retained. */
    private Runnable takeUnused() {
        ExclusiveGrant live = grant;
        return live == null ? NOTHING : live.takeUnused();
    }

    // ---- for the grant: under the mutex ----

    /** Whether that is this queue's grant, and has not been lost or given back meanwhile. */
    boolean has(ExclusiveGrant asked) {
        return grant == asked;
    }

    /** It is no longer this queue's. */
    void dropGrant() {
        grant = null;
    }

    /** Watches a waiter whose thread holds this lock itself, and so may wait for itself. */
    void warnIfItsOwn(Waiter waiter) {
        HoldState now = hold();
        if (now != null && waiter.thread != null && now.isOwnedBy(waiter.thread)) {
            SelfWait.watch(context, now, waiter);
        }
    }
}
