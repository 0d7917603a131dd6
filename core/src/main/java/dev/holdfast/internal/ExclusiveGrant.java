package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.both;

import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The one grant of an {@link ExclusiveQueue}, which passes from hold to hold until it goes back.
 *
 * <pre>
 *   hold closed ──► nobody waits here ──► it lingers until the store sends ──► RELEASING
 *        │                                        │ somebody comes: as below
 *        └──► somebody waits ──► within the bounds ──► enough lease left? ── yes ──► the next hold
 *                                     │ no                    │ no
 *                                     ▼                       └──► renewed with the lease of the next
 *                             asked for a fresh number ── others wait in the store, or it failed ──► RELEASING
 * </pre>
 *
 * <p>While others of this client wait, a closed hold's grant is handed to the next of them without asking the store,
 * which is what makes contention inside a process cheap; the bounds in {@link HoldOptions} keep other clients from
 * starving. When the bounds are reached the store is asked for a fresh grant number (it refuses when another client
 * waits), and otherwise the grant is given back and claimed anew, behind the others. The idea of passing a global lock
 * among local waiters a bounded number of times is that of lock cohorting (Dice, Marathe and Shavit, "Lock Cohorting",
 * PPoPP 2012).
 *
 * <p>A grant that has to be released from HELD lingers first, until the store is about to send. A caller that acquires
 * again in the same instant can still take it over. If a caller may not take it over, its claim is sent in the same
 * packet as the release. Where its last holder asked for that, it is not released but retained: see {@link Retention}.
 *
 * <p>Guarded by the queue's mutex, except that the hold may be read without it. What its methods return runs after it.
 */
final class ExclusiveGrant {
    final GrantState state;
    private final TokenBlock tokens;
    private final ExclusiveQueue queue;
    private final EngineContext context;
    private volatile @Nullable HoldState hold;
    private final LastClose lastClose;
    /** Made when it is first needed: most grants go back soon, and nobody asks who else waits. */
    private @Nullable Retention retention;

    ExclusiveGrant(ExclusiveQueue queue, GrantState state) {
        this.queue = queue;
        this.context = queue.context();
        this.state = state;
        this.tokens = new TokenBlock(context.time());
        this.lastClose = new LastClose(context, state, tokens);
    }

    /** The open hold by it; null between two holds. */
    @Nullable
    HoldState hold() {
        return hold;
    }

    // ---- from hold to hold ----

    /** Gives it to the one that its claim was made for, or to the first who waits. */
    Runnable begin(ClaimInFlight of) {
        if (!of.claim.waits()) {
            return giveTo(of.asker).orElseGet(this::give);
        }
        boolean doubtful = state.hasSlept() || of.isInDoubt();
        return doubtful ? renewFor(of.asker.options) : give(); // confirmed before anybody has it
    }

    /**
     * Closes a hold by it.
     *
     * @param givenBack is completed once it is decided what becomes of the grant
     */
    Runnable close(HoldState closing, CompletableFuture<Boolean> givenBack) {
        Loss.Cause cause = state.lossCause();
        if (cause != null) {
            givenBack.complete(false);
            return lost(cause);
        }
        if (hold != closing || !closing.close()) {
            givenBack.complete(false);
            return NOTHING;
        }
        hold = null;
        lastClose.begin(givenBack);
        context.telemetry().released(closing);
        Runnable then = closing.options.awaitRelease() ? handOver() : closed(closing.options);
        return both(both(() -> context.telemetry().recordReleased(closing), then), parted());
    }

    /**
     * Where nobody waits here the grant goes back as soon as the store sends, and not sooner: a thread that comes back for
     * it in the same instant finds it still there, or at least has its claim sent along. Or it is retained for longer.
     */
    private Runnable closed(HoldOptions options) {
        Waiter first = queue.waiters.first();
        if (!state.isValid() || (first != null && tokens.mayHandOver(first.options))) {
            return handOver();
        }
        // The bounds of hand-over protect other clients: they do not count while the store watches and nobody waits.
        if (!options.retain().isZero()
                && retention().isAllowed(options)
                && (first == null || retention().isReported())) {
            return retention().begin(options);
        }
        return first == null ? linger() : handOver();
    }

    // ---- retained ----

    private Retention retention() {
        Retention made = retention == null ? new Retention(queue, this, tokens) : retention;
        retention = made;
        return made;
    }

    /** Has the store report to a holder when others wait. */
    Runnable watchFor(HoldState held) {
        if (hold != held) {
            return NOTHING; // closed, lost, or now a reader's
        }
        if (retention().isWanted() || !queue.waiters.isEmpty()) {
            held.noteWanted();
        }
        return retention().watch();
    }

    /** The store has confirmed it while nobody uses it. */
    Runnable confirmed() {
        if (hold == null) {
            lastClose.confirmed();
        }
        return NOTHING;
    }

    /** Other clients wait for it. */
    Runnable wanted() {
        return retention().others();
    }

    /** It is no longer retained: for callers that wait here it is renewed or claimed again, otherwise it is released. */
    Runnable endRetention() {
        retention().end();
        return both(queue.hasTry() ? release() : handOver(), parted());
    }

    private Runnable linger() {
        queue.enter(QueuePhase.LINGERING);
        return () -> context.beforeSending(queue.name(), () -> queue.transition(() -> queue.endOfLinger(this)));
    }

    /** The store is about to send, or another claim is to come behind the release. */
    Runnable endOfLinger() {
        Runnable then = queue.hasTry() ? release() : handOver(); // the one who tries has a claim of its own
        return both(then, parted());
    }

    /** Whether it can be given as it is to one who came while it lingers. */
    private boolean mayTakeOver(Waiter waiter) {
        return !queue.hasTry() // who tries once is before those who wait
                && state.isValid()
                && tokens.mayHandOver(waiter.options)
                && state.fits(waiter.options)
                && state.hasEnoughLease();
    }

    /** Somebody came while it lingers or is retained. */
    Runnable takeUnused() {
        if (queue.isIn(QueuePhase.RETAINED)) {
            return retention().take();
        }
        Waiter first = queue.waiters.first();
        boolean may = queue.isIn(QueuePhase.LINGERING) && first != null && mayTakeOver(first);
        return may ? both(give(), parted()) : NOTHING;
    }

    /** One who does not wait takes it while it lingers or is retained; empty where that is not so, or may not be. */
    Optional<Runnable> tryUnused(Waiter trying) {
        boolean retained = queue.isIn(QueuePhase.RETAINED);
        boolean may = retained ? retention().mayTake(trying) : queue.isIn(QueuePhase.LINGERING) && mayTakeOver(trying);
        if (!may) {
            return Optional.empty();
        }
        Runnable given = giveTo(trying).orElseGet(retained ? retention()::take : this::give);
        return Optional.of(both(given, parted()));
    }

    /** A hold was closed: what becomes of the grant. */
    private Runnable handOver() {
        Waiter first = queue.waiters.first();
        if (first == null || !state.isValid()) {
            return release();
        }
        if (tokens.mayHandOver(first.options)) {
            return state.hasEnoughLease() ? give() : renewFor(first.options);
        }
        return renumberOrRelease();
    }

    /** Gives it to the first waiter who still wants it. */
    private Runnable give() {
        if (queue.hasTry()) {
            return release(); // of a claim that was called off; the one who tries has a claim of its own
        }
        for (Waiter first = queue.waiters.first(); first != null; first = queue.waiters.first()) {
            if (!tokens.suffices(first.options)) {
                return renumberOrRelease(); // it was renewed for another, who is gone
            }
            if (!state.fits(first.options)) {
                return renewFor(first.options);
            }
            if (queue.waiters.remove(first)) {
                Optional<Runnable> taken = giveTo(first);
                if (taken.isPresent()) {
                    return taken.get();
                }
            }
        }
        return release();
    }

    /** Gives it to one waiter; empty if its outcome was set before. */
    Optional<Runnable> giveTo(Waiter taker) {
        HoldState before = tokens.lastHold();
        HoldState made = queue.newHold(state, tokens, taker);
        HoldHandle anchor = made.handOut(taker.threadOwned);
        Thread owner = made.isThreadBound() ? taker.thread : null;
        queue.enter(QueuePhase.HELD);
        if (retention != null) {
            retention.pause();
        }
        hold = made;
        tokens.given(made);
        if (owner != null) {
            queue.owners.add(owner, made);
        }
        // Last: from here on the taker may close the hold, and everything must be in its place by then.
        Optional<Runnable> taken = Optional.of(taker::wake);
        if (taker.resolve(new Waiter.Outcome.Granted(anchor))) {
            try {
                context.telemetry().acquired(made, taker);
            } catch (Throwable notCounted) {
                // an Error, such as of memory: the taker has the hold, and is woken
            }
            return taken;
        }
        if (owner != null) {
            queue.owners.remove(owner, made);
        }
        hold = null;
        tokens.notTaken(before);
        return Optional.empty();
    }

    // ---- with the store ----

    private Runnable renumberOrRelease() {
        if (context.capabilities().extendable()) {
            return refreshNumber();
        }
        return queue.isIn(QueuePhase.HELD) ? linger() : release(); // so that the claim behind it leaves with it
    }

    private Runnable refreshNumber() {
        queue.enter(QueuePhase.REFRESHING);
        return () -> context.refresher().number(state, standing -> refreshed(standing, true));
    }

    /** Renews it with the lease of the next holder, before anybody has it. */
    private Runnable renewFor(HoldOptions options) {
        queue.enter(QueuePhase.REFRESHING);
        return () -> context.refresher().renewFor(state, options, standing -> refreshed(standing, false));
    }

    private void refreshed(boolean standing, boolean freshNumber) {
        queue.transition(() -> {
            if (!queue.has(this) || !queue.isIn(QueuePhase.REFRESHING)) {
                return NOTHING; // lost meanwhile
            }
            context.renewer().changed(state);
            if (standing && freshNumber) {
                context.claims().saw(state.grant().number());
                tokens.renew();
                if (retention != null) {
                    retention.renumbered();
                }
            }
            Runnable then = standing && state.isValid() ? give() : release();
            return both(then, parted());
        });
    }

    private Runnable release() {
        if (!state.giveBack()) {
            return NOTHING; // lost in this moment: grantLost follows and goes on from there
        }
        drop();
        context.renewer().forget(state);
        HoldState last = lastClose.unconfirmed();
        queue.enter(QueuePhase.RELEASING);
        return () -> context.releaseSender()
                .releaseBeforeClaims(state, last)
                .whenComplete((held, failure) -> queue.claimsMayFollow());
    }

    private void drop() {
        queue.dropGrant();
        if (retention != null) {
            retention.end();
        }
    }

    /**
     * The grant goes to the readers of this client, who may join it from now on, with its hold; empty if that is not open
     * and surely held. The two mutexes are taken in this order only.
     */
    Optional<Runnable> passToReaders(HoldState held) {
        if (hold != held || !state.isValid()) {
            return Optional.empty();
        }
        if (held.isThreadBound() && held.acquirer != null) {
            queue.owners.remove(held.acquirer, held);
        }
        Runnable letIn = context.queues().adoptAsReader(queue.name(), state, tokens, held);
        drop();
        return Optional.of(both(this::downgrade, both(letIn, queue.next())));
    }

    private void downgrade() {
        context.releaseSender().downgrade(state).thenAccept(done -> {
            if (!done && state.owner() instanceof SharedQueue readers) {
                readers.notDowngraded(state);
            }
        });
    }

    /** It has ended otherwise than by its release. */
    Runnable lost(Loss.Cause cause) {
        HoldState loser = hold;
        drop();
        boolean byTheStore = cause == Loss.Cause.GONE_FROM_STORE || cause == Loss.Cause.SESSION_ENDED;
        Runnable unnoticed = byTheStore ? lastClose.tellUnnoticed(cause) : NOTHING;
        Runnable tell = loser == null ? unnoticed : queue.tellLoss(loser, cause);
        boolean mayBeWatched = retention != null && !byTheStore; // which only a release ends
        boolean unused = loser == null && cause == Loss.Cause.CLIENT_CLOSED; // its release is as any other
        HoldState last = unused ? lastClose.unconfirmed() : null;
        Runnable clear = state.renewal().mayStillStand(cause) || mayBeWatched
                ? () -> context.releaseSender().release(state, last)
                : NOTHING;
        Runnable then = queue.next();
        return both(both(both(tell, clear), then), parted());
    }

    /** Tells the caller that closed the last hold, once it is decided what becomes of the grant. */
    private Runnable parted() {
        boolean open = queue.isIn(QueuePhase.REFRESHING) || queue.isIn(QueuePhase.LINGERING);
        return open ? NOTHING : lastClose.decided();
    }
}
