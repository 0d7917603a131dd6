package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Loss;
import dev.holdfast.UnsupportedByStoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
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
 * <p>Waiters are served in the order they came. How a grant passes from one hold to the next, lingers, is retained and goes
 * back is {@link ExclusiveGrant}'s. No claim overtakes a release of its own client: also those of readers, who queue up elsewhere,
 * come behind it.
 *
 * <p>Joining the queue takes no lock: whoever ends a phase writes the next phase first and looks at the queue after
 * that, while whoever joins writes the queue first and looks at the phase after that, so that one of the two sees the
 * other. The phase changes under a small mutex, for which in practice only the closing holder comes. Thread-safe.
 */
final class ExclusiveQueue extends WaitQueue {
    private volatile QueuePhase phase = QueuePhase.IDLE;
    private @Nullable ClaimInFlight claiming;
    private @Nullable Waiter nextTry;
    private volatile @Nullable ExclusiveGrant grant;
    /** Claims for the name in other ways, which come behind the release under way. */
    private List<Runnable> claimsBehind = new ArrayList<>();

    /** A lock nobody wants yet. */
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

    @Override
    boolean isRetired() {
        return phase == QueuePhase.RETIRED;
    }

    private boolean join(Waiter waiter) {
        recordPlace(waiter, phase != QueuePhase.IDLE);
        waiters.add(waiter);
        return switch (phase) {
            case IDLE -> {
                transition(this::nextIfIdle);
                yield true;
            }
            case LINGERING, RETAINED -> {
                transition(this::takeUnused);
                yield true; // if it cannot, whoever ends that phase looks at the queue
            }
            case RETIRED -> !waiters.remove(waiter); // nobody looks here any more, unless somebody just did
            case CLAIMING, HELD, REFRESHING, RELEASING -> {
                warnIfItsOwn(waiter);
                noteWantedHere();
                yield true; // whoever ends that phase looks at the queue
            }
        };
    }

    /** One who does not wait never joins the queue: a claim of its own, or nothing. */
    private boolean tryOnce(Waiter waiter) {
        AtomicBoolean accepted = new AtomicBoolean(true);
        transition(() -> {
            if (phase == QueuePhase.RETIRED) {
                accepted.set(false);
                return NOTHING;
            }
            if (phase == QueuePhase.IDLE && waiters.isEmpty()) {
                waiter.recordPlace();
                return claim(waiter);
            }
            ExclusiveGrant live = grant;
            boolean isFirst = waiters.isEmpty();
            Optional<Runnable> taken = live != null && isFirst ? live.tryUnused(waiter) : Optional.empty();
            if (taken.isPresent()) {
                return taken.get();
            }
            Runnable back = live != null && isFirst && phase == QueuePhase.RETAINED ? live.endRetention() : NOTHING;
            boolean goesBack = phase == QueuePhase.RELEASING
                    || phase == QueuePhase.LINGERING
                    || phase == QueuePhase.RETAINED; // lost meanwhile
            boolean wanted = !goesBack && phase != QueuePhase.REFRESHING && unwanted() == null;
            if (!wanted && waiters.isEmpty() && nextTry == null) {
                nextTry = waiter; // behind this client's own release, or its claim or grant that nobody wants any more
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
            if (now != this) { // it became a reader's in this moment
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
        return of.grant.owner().stopRenewal(of, cause); // it became a reader's in this moment
    }

    @Override
    @Nullable
    ClaimInFlight unwanted() {
        ClaimInFlight asked = claiming;
        return asked != null && asked.claim.waits() && waiters.isEmpty() ? asked : null;
    }

    @Override
    boolean isSurelyHeldHere() {
        ExclusiveGrant live = grant; // without a hold it is about to go on or back, for which the store has to answer
        return live != null && live.state.isValid() && live.hold() != null;
    }

    /** Whether a caller of this client waits for an exclusive hold who did not come after this one. */
    boolean isWaitedForBefore(Waiter other) {
        Waiter first = waiters.first();
        return first != null && first.since - other.since <= 0;
    }

    /** The grant goes to the readers of this client with its hold; what waits here claims anew. */
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

    /** Somebody of this client waits for the open hold. */
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
    public void wanted(GrantState of) {
        transition(() -> {
            ExclusiveGrant live = grant;
            return live != null && live.state == of ? live.wanted() : NOTHING;
        });
    }

    @Override
    Stream<ClaimInFlight> claims() {
        return Stream.ofNullable(claiming);
    }

    @Override
    void forgetClaim(ClaimInFlight answered) {
        claiming = null;
    }

    @Override
    Runnable afterClaim() {
        return next();
    }

    @Override
    Runnable granted(ClaimInFlight of, GrantState live) {
        if (of.isKnownLost()) {
            return both(() -> context.releaseSender().withdraw(of.claim), next()); // for those who wait: claimed anew
        }
        ExclusiveGrant begun = new ExclusiveGrant(this, live);
        grant = begun;
        return begun.begin(of);
    }

    @Override
    public void grantLost(GrantState lost, Loss.Cause cause) {
        transition(() -> {
            if (lost.owner() != this) {
                return () -> lost.owner().grantLost(lost, cause); // it became a reader's in this moment
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
            ClaimInFlight unwanted = claiming;
            Runnable lose = held == null ? NOTHING : () -> context.renewer().lose(held.state, Loss.Cause.CLIENT_CLOSED);
            return both(both(waiters.failAll(closed), unwanted == null ? NOTHING : unwanted::cancel), lose);
        });
        owners.clear();
        transition(this::nextIfIdle);
    }

    // ---- transitions: called under the mutex, return what is to be done after it ----

    @Override
    Runnable nextIfIdle() {
        return phase == QueuePhase.IDLE ? next() : NOTHING;
    }

    /** Nothing stands in the store any more: claim for whoever waits, else retire. */
    Runnable next() {
        phase = QueuePhase.IDLE;
        Waiter first = nextTry == null ? waiters.first() : nextTry;
        nextTry = null;
        if (first != null && context.isClosed()) {
            ClientClosedException closed = context.closedException();
            return both(both(waiters.fail(first, closed), waiters.failAll(closed)), this::nextAfterClose);
        }
        if (first == null && owners.isEmpty()) {
            phase = QueuePhase.RETIRED;
            first = waiters.first(); // one who joined in between may have seen the phase before or after
            if (first == null) {
                return () -> context.queues()
                        .retired(this); // after what else this step does: until then the client is not quiet
            }
        }
        return first == null ? NOTHING : claim(first);
    }

    private void nextAfterClose() {
        transition(this::nextIfIdle);
    }

    private Runnable claim(Waiter asker) {
        ClaimInFlight started = new ClaimInFlight(context.claims().claimFor(name, asker), asker, this::answered);
        phase = QueuePhase.CLAIMING;
        claiming = started;
        return () -> context.queues().send(started, name);
    }

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
                    : retainedToo && phase == QueuePhase.RETAINED ? live.endRetention() : endOfLinger(live);
            if (phase != QueuePhase.RELEASING) {
                return both(back, claim);
            }
            claimsBehind.add(claim);
            return back;
        });
    }

    /** The store is about to send, while a grant of this queue lingers. */
    Runnable endOfLinger(ExclusiveGrant live) {
        return phase == QueuePhase.LINGERING && grant == live ? live.endOfLinger() : NOTHING;
    }

    /** Somebody came while the grant lingers or is retained. */
    private Runnable takeUnused() {
        ExclusiveGrant live = grant;
        return live == null ? NOTHING : live.takeUnused();
    }

    // ---- for the grant: under the mutex ----

    /** What follows looks at the queue after this. */
    void enter(QueuePhase next) {
        phase = next;
    }

    boolean isIn(QueuePhase asked) {
        return phase == asked;
    }

    /** Whether that is this queue's grant, and has not been lost or given back meanwhile. */
    boolean has(ExclusiveGrant asked) {
        return grant == asked;
    }

    /** Whether one who does not wait is to make a claim of its own once the grant is back. */
    boolean hasTry() {
        return nextTry != null;
    }

    /** It is no longer this queue's. */
    void dropGrant() {
        grant = null;
    }

    /** Watches a waiter whose thread holds this lock itself, and so may wait for itself. */
    void warnIfItsOwn(Waiter waiter) {
        HoldState now = hold();
        if (now != null && waiter.thread != null && now.isOwnedBy(waiter.thread)) {
            waiter.recordPlace();
            SelfWait.watch(context, now, waiter);
        }
    }
}
