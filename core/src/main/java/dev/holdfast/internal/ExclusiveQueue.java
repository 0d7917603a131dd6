package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
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
 * <p>Waiters are served in the order they came. While others of this client wait, a closed hold's grant is handed to
 * the next of them without asking the store, which is what makes contention inside a process cheap; the bounds in
 * {@link HoldOptions} keep other clients from starving. When the bounds are reached the store is asked for a fresh grant
 * number (it refuses when another client waits), and otherwise the grant is given back and claimed anew, behind the
 * others. The idea of passing a global lock among local waiters a bounded number of times is that of lock cohorting (Dice,
 * Marathe and Shavit, "Lock Cohorting", PPoPP 2012).
 *
 * <p>A grant that has to go back from HELD lingers first, until the store is about to send: one who comes back in the same
 * instant finds it still there, and the claim of one who may not have it leaves in the same packet as the release. No
 * claim overtakes a release of its own client: also those of readers, who queue up elsewhere, come behind it.
 *
 * <p>Joining the queue takes no lock: whoever ends a phase writes the next phase first and looks at the queue after
 * that, while whoever joins writes the queue first and looks at the phase after that, so that one of the two sees the
 * other. The phase changes under a small mutex, for which in practice only the closing holder comes. Nothing is called
 * under it that may wait or call back: each transition returns what is to be done, and that is run after the mutex is
 * free. Thread-safe.
 */
final class ExclusiveQueue extends WaitQueue {
    private enum Phase {
        /** No grant, no claim; whoever queues up in this phase starts a claim. */
        IDLE,
        /** A claim is with the store. */
        CLAIMING,
        /** A hold is open, or lost its grant a moment ago. */
        HELD,
        /** The last hold was closed, and the grant goes back when the store sends next unless somebody takes it over. */
        LINGERING,
        /** Between two holds: the store is asked to renew the grant or to give it a fresh number. */
        REFRESHING,
        /** The grant goes back, and the next claim must wait until it may follow. */
        RELEASING,
        /** Forgotten by the registry; a new one takes its place. */
        RETIRED
    }

    private volatile Phase phase = Phase.IDLE;
    private @Nullable ClaimInFlight claiming;
    private @Nullable Waiter nextTry;
    private volatile @Nullable GrantState grant;
    private volatile @Nullable HoldState hold;
    /** Who closed a hold while the store is asked whether its grant goes on, and waits to know: was it given back? */
    private @Nullable CompletableFuture<Boolean> parting;
    /** Claims for the name in other ways, which come behind the release under way. */
    private List<Runnable> claimsBehind = new ArrayList<>();

    /** A lock nobody wants yet. */
    ExclusiveQueue(EngineContext context, LockName name) {
        super(context, name);
    }

    /** The open hold under a grant, if there is one. */
    private @Nullable HoldState holdOf(GrantState of) {
        HoldState now = hold;
        return now != null && now.grant == of ? now : null;
    }

    @Override
    public void forEachHoldOf(GrantState of, Consumer<HoldState> action) {
        HoldState now = holdOf(of);
        if (now != null) {
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
        return phase == Phase.RETIRED;
    }

    private boolean join(Waiter waiter) {
        recordPlace(waiter, phase != Phase.IDLE);
        waiters.add(waiter);
        return switch (phase) {
            case IDLE -> {
                transition(this::nextIfIdle);
                yield true;
            }
            case LINGERING -> {
                transition(this::takeOver);
                yield true; // if it cannot, whoever ends that phase looks at the queue
            }
            case RETIRED -> !waiters.remove(waiter); // nobody looks here any more, unless somebody just did
            case CLAIMING, HELD, REFRESHING, RELEASING -> {
                warnIfItsOwn(waiter);
                yield true; // whoever ends that phase looks at the queue
            }
        };
    }

    /** One who does not wait never joins the queue: a claim of its own, or nothing. */
    private boolean tryOnce(Waiter waiter) {
        AtomicBoolean taken = new AtomicBoolean(true);
        transition(() -> {
            if (phase == Phase.RETIRED) {
                taken.set(false);
                return NOTHING;
            }
            if (phase == Phase.IDLE && waiters.isEmpty()) {
                waiter.recordPlace();
                return claim(waiter);
            }
            GrantState live = grant;
            if (phase == Phase.LINGERING && live != null && waiters.isEmpty() && mayTakeOver(live, waiter)) {
                waiter.recordPlace();
                return both(giveTo(live, waiter).orElseGet(() -> give(live)), parted(live));
            }
            boolean wanted = !isGoingBack() && phase != Phase.REFRESHING && unwanted() == null;
            if (!wanted && waiters.isEmpty() && nextTry == null) {
                nextTry = waiter; // behind this client's own release, or its claim or grant that nobody wants any more
                return afterLeaving(); // who left may not have called it off yet, and would not once another has joined
            }
            return refuse(waiter); // another of this client holds it, or is before this one
        });
        return taken.get();
    }

    @Override
    public CompletableFuture<Boolean> endHold(HoldState closing) {
        CompletableFuture<Boolean> givenBack = new CompletableFuture<>();
        transition(() -> {
            GrantOwner now = closing.grant.owner();
            if (now != this) { // it became a reader's in this moment
                return () -> now.endHold(closing).thenAccept(givenBack::complete);
            }
            Loss.Cause lost = closing.grant.lossCause();
            if (lost != null && grant == closing.grant) {
                givenBack.complete(false);
                return lostStep(closing.grant, lost);
            }
            if (hold != closing || !closing.close()) {
                givenBack.complete(false);
                return NOTHING;
            }
            hold = null;
            context.telemetry().released(closing);
            parting = givenBack;
            Runnable then = closing.options.awaitRelease() ? handOver(closing.grant) : closed(closing.grant);
            return both(both(() -> context.telemetry().recordReleased(closing), then), parted(closing.grant));
        });
        return givenBack;
    }

    /** Tells the one who closed the last hold, once it is decided what becomes of its grant. */
    private Runnable parted(GrantState of) {
        CompletableFuture<Boolean> asked = parting;
        if (asked == null || phase == Phase.REFRESHING || phase == Phase.LINGERING) {
            return NOTHING;
        }
        parting = null;
        boolean givenBack = of.isGivenBack();
        return () -> asked.complete(givenBack);
    }

    @Override
    public boolean stopRenewal(HoldState of, Loss.Cause cause) {
        mutex.lock();
        try {
            if (of.grant.owner() == this) {
                return hold == of && of.grant.stopRenewal(cause);
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
        GrantState live = grant; // without a hold it is about to go on or back, for which the store has to answer
        return live != null && live.isValid() && holdOf(live) != null;
    }

    /** Whether a caller of this client waits for an exclusive hold who did not come after this one. */
    boolean isWaitedForBefore(Waiter other) {
        Waiter first = waiters.peek();
        return first != null && first.since - other.since <= 0;
    }

    /**
     * The grant goes to the readers of this client, who may join it from now on, with its hold; what waits here claims
     * anew. The two mutexes are taken in this order only.
     */
    @Override
    public boolean downgrade(HoldState held) {
        AtomicBoolean moved = new AtomicBoolean();
        transition(() -> {
            GrantState live = held.grant;
            if (hold != held || grant != live || !live.isValid()) {
                return NOTHING;
            }
            if (held.isThreadBound() && held.acquirer != null) {
                forgetOwner(held.acquirer, held);
            }
            Runnable letIn = context.queues().adoptAsReader(name, live, held);
            grant = null;
            hold = null;
            moved.set(true);
            return both(() -> context.releaseSender().downgrade(live.grant()), both(letIn, next()));
        });
        return moved.get();
    }

    // ---- what the store and the renewer report ----

    private void answered(ClaimInFlight of, @Nullable Optional<Grant> answer, @Nullable Throwable failure) {
        transition(() -> {
            claiming = null;
            if (failure != null || answer == null) {
                Throwable why = failure != null ? failure : new IllegalStateException("the store answered null");
                return both(failed(of, why), next());
            }
            if (answer.isEmpty()) {
                return both(of.claim.waits() ? NOTHING : notGranted(of.asker), next());
            }
            return granted(of, answer.get());
        });
    }

    private Runnable granted(ClaimInFlight of, Grant given) {
        GrantState live = begin(given, of);
        Optional<Throwable> refused = GrantCheck.whyNot(context, live, of);
        if (refused.isPresent()) {
            return both(failed(of, refused.get()), next());
        }
        if (of.isKnownLost()) {
            return both(() -> context.releaseSender().withdraw(of.claim), next()); // for those who wait: claimed anew
        }
        grant = live;
        context.renewer().watch(live);
        if (of.claim.waits() && (live.hasSlept() || of.isInDoubt())) {
            return renewFor(live, of.asker.options); // confirmed before anybody has it
        }
        return of.claim.waits() ? give(live) : giveTo(live, of.asker).orElseGet(() -> give(live));
    }

    @Override
    void onStoreNotice(ClaimId id, Consumer<ClaimInFlight> notice) {
        mutex.lock();
        try {
            if (claiming != null && claiming.claim.id().equals(id)) {
                notice.accept(claiming);
            }
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void grantLost(GrantState lost, Loss.Cause cause) {
        transition(() -> {
            if (lost.owner() != this) {
                return () -> lost.owner().grantLost(lost, cause); // it became a reader's in this moment
            }
            return grant == lost ? lostStep(lost, cause) : NOTHING;
        });
    }

    private Runnable lostStep(GrantState lost, Loss.Cause cause) {
        grant = null;
        HoldState loser = hold;
        hold = null;
        Runnable tell = loser == null ? NOTHING : tellLoss(loser, cause);
        Runnable clear =
                mayStillStand(lost, cause) ? () -> context.releaseSender().release(lost, null) : NOTHING;
        Runnable then = next();
        return both(both(both(tell, clear), then), parted(lost));
    }

    private void refreshed(GrantState of, boolean standing, boolean freshNumber) {
        transition(() -> {
            if (grant != of || phase != Phase.REFRESHING) {
                return NOTHING; // lost meanwhile
            }
            context.renewer().changed(of);
            if (standing && freshNumber) {
                context.claims().saw(of.grant().number());
                of.tokens().renew();
            }
            Runnable then = standing && of.isValid() ? give(of) : release(of);
            return both(then, parted(of));
        });
    }

    private void claimsMayFollow() {
        transition(() -> {
            List<Runnable> claims = claimsBehind;
            claimsBehind = new ArrayList<>();
            return both(next(), all(claims));
        });
    }

    @Override
    void shutDown(Throwable closed) {
        transition(() -> {
            GrantState held = grant;
            ClaimInFlight unwanted = claiming;
            Runnable lose = held == null ? NOTHING : () -> context.renewer().lose(held, Loss.Cause.CLIENT_CLOSED);
            return both(both(failAll(closed), unwanted == null ? NOTHING : unwanted::cancel), lose);
        });
        forgetOwners();
        transition(this::nextIfIdle);
    }

    // ---- transitions: called under the mutex, return what is to be done after it ----

    @Override
    Runnable nextIfIdle() {
        return phase == Phase.IDLE ? next() : NOTHING;
    }

    /** Nothing stands in the store any more: claim for whoever waits, else retire. */
    private Runnable next() {
        phase = Phase.IDLE;
        Waiter first = nextTry == null ? waiters.peek() : nextTry;
        nextTry = null;
        if (first != null && context.isClosed()) {
            ClientClosedException closed = context.closedException();
            return both(both(fail(first, closed), failAll(closed)), this::nextAfterClose);
        }
        if (first == null && isUnowned()) {
            phase = Phase.RETIRED;
            first = waiters.peek(); // one who joined in between may have seen the phase before or after
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
        phase = Phase.CLAIMING;
        claiming = started;
        return () -> context.queues().send(started, name);
    }

    /**
     * A hold was closed. Where nobody waits here its grant goes back as soon as the store sends, and not sooner: a thread
     * that comes back for it in the same instant finds it still there, or at least has its claim sent along.
     */
    private Runnable closed(GrantState live) {
        return waiters.isEmpty() && live.isValid() ? linger(live) : handOver(live);
    }

    private Runnable linger(GrantState live) {
        phase = Phase.LINGERING;
        return () -> context.beforeSending(name, () -> transition(() -> endOfLinger(live)));
    }

    @Override
    void claimBehind(Runnable claim) {
        transition(() -> {
            GrantState live = grant;
            Runnable back = live == null ? NOTHING : endOfLinger(live);
            if (phase != Phase.RELEASING) {
                return both(back, claim);
            }
            claimsBehind.add(claim);
            return back;
        });
    }

    private Runnable endOfLinger(GrantState live) {
        if (phase != Phase.LINGERING || grant != live) {
            return NOTHING;
        }
        Runnable then = nextTry == null ? handOver(live) : release(live); // the one who tries has a claim of its own
        return both(then, parted(live));
    }

    /** Somebody came while the grant lingers. */
    private Runnable takeOver() {
        GrantState live = grant;
        Waiter first = waiters.peek();
        if (phase != Phase.LINGERING || live == null || first == null) {
            return NOTHING;
        }
        return mayTakeOver(live, first) ? both(give(live), parted(live)) : NOTHING;
    }

    private boolean mayTakeOver(GrantState live, Waiter waiter) {
        return nextTry == null // who tries once is before those who wait
                && live.isValid()
                && live.tokens().mayHandOver(waiter.options)
                && live.fits(waiter.options)
                && live.hasEnoughLease();
    }

    private boolean isGoingBack() {
        return phase == Phase.RELEASING || phase == Phase.LINGERING;
    }

    /** A hold was closed: what becomes of its grant. */
    private Runnable handOver(GrantState live) {
        Waiter first = waiters.peek();
        if (first == null || !live.isValid()) {
            return release(live);
        }
        if (live.tokens().mayHandOver(first.options)) {
            return live.hasEnoughLease() ? give(live) : renewFor(live, first.options);
        }
        return renumberOrRelease(live);
    }

    /** Gives the grant to the first waiter who still wants it. */
    private Runnable give(GrantState live) {
        if (nextTry != null) {
            return release(live); // of a claim that was called off; the one who tries has a claim of its own
        }
        for (Waiter first = waiters.peek(); first != null; first = waiters.peek()) {
            if (!live.tokens().suffices(first.options)) {
                return renumberOrRelease(live); // it was renewed for another, who is gone
            }
            if (!live.fits(first.options)) {
                return renewFor(live, first.options);
            }
            if (waiters.remove(first)) {
                Optional<Runnable> taken = giveTo(live, first);
                if (taken.isPresent()) {
                    return taken.get();
                }
            }
        }
        return release(live);
    }

    /** Gives the grant to one waiter; empty if its outcome was set before. */
    private Optional<Runnable> giveTo(GrantState live, Waiter taker) {
        HoldState before = live.tokens().lastHold();
        HoldState made = newHold(live, taker);
        HoldHandle anchor = made.handOut(taker.threadOwned);
        Thread owner = made.isThreadBound() ? taker.thread : null;
        phase = Phase.HELD;
        hold = made;
        live.tokens().given(made);
        if (owner != null) {
            own(owner, made);
        }
        // Last: from here on the taker may close the hold, and everything must be in its place by then.
        if (taker.resolve(new Waiter.Outcome.Granted(anchor))) {
            context.telemetry().acquired(made, taker);
            return Optional.of(taker::wake);
        }
        if (owner != null) {
            forgetOwner(owner, made);
        }
        hold = null;
        live.tokens().notTaken(before);
        return Optional.empty();
    }

    private Runnable renumberOrRelease(GrantState live) {
        if (context.capabilities().extendable()) {
            return refreshNumber(live);
        }
        return phase == Phase.HELD ? linger(live) : release(live); // so that the claim behind it leaves with it
    }

    private Runnable refreshNumber(GrantState live) {
        phase = Phase.REFRESHING;
        return () -> context.refresher().number(live, standing -> refreshed(live, standing, true));
    }

    private Runnable renewFor(GrantState live, HoldOptions options) {
        phase = Phase.REFRESHING;
        return () -> context.refresher().renewFor(live, options, standing -> refreshed(live, standing, false));
    }

    private Runnable release(GrantState live) {
        if (!live.giveBack()) {
            return NOTHING; // lost in this moment: grantLost follows and goes on from there
        }
        grant = null;
        context.renewer().forget(live);
        HoldState last = live.tokens().lastHold();
        phase = Phase.RELEASING;
        return () -> context.releaseSender()
                .releaseBeforeClaims(live, last)
                .whenComplete((held, failure) -> claimsMayFollow());
    }

    /** Watches a waiter whose thread holds this lock itself, and so may wait for itself. */
    void warnIfItsOwn(Waiter waiter) {
        HoldState now = hold;
        if (now != null && waiter.thread != null && now.isOwnedBy(waiter.thread)) {
            waiter.recordPlace();
            SelfWait.watch(context, now, waiter);
        }
    }
}
