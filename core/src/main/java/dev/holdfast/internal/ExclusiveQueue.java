package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import dev.holdfast.UnsupportedByStoreException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The writers' side of one lock of one client. It has the queue of those who wait in this client, and one claim or grant that
 * stands for all of them in the store.
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
 * <p>The table in {@code docs/internals/afternoon.md} has the other phases too: LINGERING and RETAINED between HELD and
 * RELEASING, and RETIRED.
 *
 * <p>While others of this client wait, a closed hold's grant is handed to the next of them without asking the store,
 * which is what makes contention inside a process cheap; the bounds in {@link HoldOptions} keep other clients from
 * starving. When the bounds are reached the store is asked for a fresh grant number (it refuses when another client
 * waits). If it refuses, the grant is given back and claimed again, behind the others. A grant with too little lease left is first
 * renewed, with the lease of its next holder. The idea of passing a global lock among local waiters a bounded number of times
 * is that of lock cohorting (Dice, Marathe and Shavit, "Lock Cohorting", PPoPP 2012).
 *
 * <p>A grant that is released from HELD lingers first, until the store is about to send; where its holder waits for the
 * release, it is sent at once. A caller that acquires again in the same instant can still take the grant over. If it may not,
 * its claim is sent in the same packet as the release. Where its last holder asked for that, it is not released but retained: see {@link Retention}.
 *
 * <p>Waiters are served in the order they came. No claim overtakes a release of its own client: claims of readers, which wait
 * in a queue of their own, follow it too.
 *
 * <p>Joining the queue takes no lock. A thread that ends a phase writes the next phase first and reads the queue after
 * that. A thread that joins writes the queue first and reads the phase after that, so that one of the two sees the other.
 * The phase changes under a small mutex, which in practice only the closing holder takes. Thread-safe.
 */
final class ExclusiveQueue extends WaitQueue {
    /** What a queue is doing; it may be read without the mutex. */
    enum Phase {
        /** Nothing is in the store, and nothing is under way. */
        IDLE,
        /** A claim is under way, for the first waiter or for a caller that does not wait. */
        CLAIMING,
        /** A hold is open, or lost its grant a moment ago. */
        HELD,
        /** The last hold was closed, and the grant is released when the store sends next unless a caller takes it over. */
        LINGERING,
        /** No caller uses the grant, and it stays here until it is used again, unused for long, or wanted by another client. */
        RETAINED,
        /** Between two holds: the store is asked to renew the grant or to give it a fresh number. */
        REFRESHING,
        /** The grant is released, and the next claim must wait until it may follow. */
        RELEASING,
        /** Removed from the registry; a new queue takes its place. */
        RETIRED
    }

    volatile Phase phase;
    private volatile @Nullable GrantState grant;
    /** The open hold by the grant; null between two holds. */
    volatile @Nullable HoldState hold;

    // ---- all else is guarded by the mutex ----

    private @Nullable ClaimInFlight claiming;
    /** A caller that does not wait, and makes a claim of its own once the grant is back. */
    private @Nullable Waiter nextTry;
    /** Made when it is first needed: most grants go back soon, and nobody asks who else waits. */
    private @Nullable Retention retention;

    /** When the last hold was closed, by {@code nanoTime}. */
    private long closedAt;
    /** The caller that closed it, while it waits to hear whether its grant went back. */
    private @Nullable CompletableFuture<Boolean> closer;

    /** A lock that no caller wants to write yet; or none ever will, where it is retired. */
    ExclusiveQueue(LocalLock lock, LockName name) {
        super(lock, name);
        this.phase = lock.retired ? Phase.RETIRED : Phase.IDLE;
    }

    boolean isIn(Phase asked) {
        return phase == asked;
    }

    /** Whether that is this queue's grant, and has not been lost or given back meanwhile. */
    boolean has(GrantState asked) {
        return grant == asked;
    }

    // ---- callers come and go ----

    @Override
    boolean submit(Waiter waiter) {
        return waiter.waits ? join(waiter) : tryOnce(waiter);
    }

    private boolean join(Waiter waiter) {
        waiters.add(waiter);
        return switch (phase) {
            case IDLE, LINGERING, RETAINED -> {
                try (Effects then = lock.step()) {
                    nextIfIdle(then);
                    takeUnused(then);
                }
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
        try (Effects then = lock.step()) {
            if (isIn(Phase.RETIRED)) {
                return false;
            }
            if (!waiters.isEmpty()) {
                resolve(waiter, Waiter.EMPTY, then); // others of this client are before this one
            } else if (isIn(Phase.IDLE)) {
                claimFor(waiter, then);
            } else if (!tryUnused(waiter, then)) {
                tryNext(waiter, then);
            }
            return true;
        }
    }

    /** It claims behind what is there, unless that stays. */
    private void tryNext(Waiter waiter, Effects then) {
        if (isIn(Phase.RETAINED)) {
            endRetention(then);
        }
        boolean goesBack = isIn(Phase.RELEASING) || isIn(Phase.LINGERING) || isIn(Phase.RETAINED); // lost meanwhile
        boolean wanted = !goesBack && !isIn(Phase.REFRESHING) && unwanted() == null;
        if (!wanted && waiters.isEmpty() && nextTry() == null) {
            nextTry = waiter; // behind this client's own release, or its claim or grant that nobody wants any more
            // the caller that left may not have called its claim off yet, and will not once another has joined
            afterLeaving(then);
        } else {
            resolve(waiter, Waiter.EMPTY, then); // another of this client holds it, or came before this one
        }
    }

    /** The caller who tries next; null if there is none, or it has given up. */
    private @Nullable Waiter nextTry() {
        Waiter next = nextTry;
        return next == null || next.outcome() != null ? null : next;
    }

    /** Watches a waiter whose thread holds this lock itself, and so may wait for itself. */
    void warnIfItsOwn(Waiter waiter) {
        HoldState now = hold;
        if (now != null && waiter.thread != null && now.isOwnedBy(waiter.thread)) {
            OwnHold.watch(now, waiter);
        }
    }

    /** A caller of this client waits for the open hold. */
    private void noteWantedHere() {
        HoldState now = hold;
        if (now != null && now.awaitsWanted()) {
            now.noteWanted();
            engine.telemetry.flush();
        }
    }

    @Override
    boolean isSurelyHeldHere() {
        GrantState live = grant; // without a hold, the store decides what becomes of it
        return live != null && live.isValid() && hold != null;
    }

    @Override
    void shutDown(Throwable closed, Effects then) {
        failAll(closed, then);
        if (claiming != null) {
            then.add(new Effects.Cancel(claiming));
        }
        lose(Stream.ofNullable(grant), then);
    }

    @Override
    void endUnheld(Effects then) {
        if (hold == null) {
            lose(Stream.ofNullable(grant), then);
        }
        notGivenBack(then); // also if another has the grant by now
        then.add(this);
    }

    // ---- the claim ----

    /** Nothing of this queue is left in the store: a claim for the next caller, or retirement. */
    @Override
    void next(Effects then) {
        phase = Phase.IDLE;
        Waiter tries = nextTry();
        nextTry = null;
        claimOrRetire(tries == null ? waiters.peek() : tries, then);
    }

    /** Enters the last phase, as no side of the lock is of use; false if this one is, perhaps from this moment on. */
    boolean retire(Effects then) {
        if (!isIn(Phase.IDLE) || !hasNoOwners()) {
            return false;
        }
        phase = Phase.RETIRED;
        Waiter first = waiters.peek(); // one who joined in between may have seen the phase before or after
        if (first == null) {
            return true;
        }
        phase = Phase.IDLE;
        claimFor(first, then);
        return false;
    }

    @Override
    void claimFor(Waiter asker, Effects then) {
        ClaimInFlight started = new ClaimInFlight(engine.claims.claimFor(name, asker), asker, this);
        lock.claim(this, started, then);
        claiming = started;
        phase = Phase.CLAIMING;
    }

    @Override
    void nextIfIdle(Effects then) {
        if (isIn(Phase.IDLE)) {
            next(then);
        }
    }

    @Override
    void forgetClaim(ClaimInFlight answered) {
        claiming = null;
    }

    @Override
    Stream<ClaimInFlight> claims() {
        return Stream.ofNullable(claiming);
    }

    @Override
    @Nullable
    ClaimInFlight unwanted() {
        ClaimInFlight sent = claiming;
        return sent != null && waiters.isEmpty() && (sent.claim.waits() || sent.asker.outcome() != null) ? sent : null;
    }

    // ---- the grant ----

    @Override
    void own(GrantState live) {
        grant = live;
    }

    @Override
    void granted(ClaimInFlight of, GrantState live, Effects then) {
        if (of.knownLost) {
            drop();
            engine.renewer.forget(live);
            then.add(new Effects.Withdraw(of));
            next(then); // for the waiters: claimed again
        } else if (of.claim.waits() && (live.hasSlept() || of.inDoubt)) {
            renewFor(of.asker, then); // confirmed before anybody has it
        } else if (of.claim.waits() || !giveTo(of.asker, live, then)) {
            passOn(then);
        }
    }

    private GrantState live() {
        return Objects.requireNonNull(grant);
    }

    /** Passes it on, where no caller holds it; the caller that closed it last hears what became of it once that is decided. */
    private void passOn(Effects then) {
        GrantState live = live();
        if (findsUse(live, then)) {
            answerCloser(then);
        } else {
            release(then);
        }
    }

    /**
     * It goes to the first waiter who still wants it or, where that one may not have it as it is, the store is asked; false if
     * it is to go back.
     */
    private boolean findsUse(GrantState live, Effects then) {
        boolean untouched = live.isUntouched();
        // one who tries once has a claim of its own, behind the release
        for (Waiter first = waiters.peek();
                first != null && nextTry() == null && (untouched || live.isValid());
                first = waiters.peek()) {
            if (!live.mayHandOver(first.options)) {
                return renumber(live, then);
            }
            if (!live.fits(first.options) || !(untouched || live.hasEnoughLease())) {
                renewFor(first, then);
                return true;
            }
            if (waiters.remove(first) && giveTo(first, live, then)) {
                return true;
            }
        }
        return false;
    }

    @Override
    void begun(HoldState made) {
        phase = Phase.HELD;
        if (retention != null) {
            retention.pause();
        }
        hold = made;
        made.grant.given(made);
    }

    @Override
    void notTaken(HoldState made, @Nullable HoldState before) {
        hold = null;
        made.grant.notTaken(before);
    }

    // ---- a hold is closed ----

    @Override
    boolean close(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack, Effects then) {
        long now = engine.time.nanoTime(); // first: a hold that is closed has its grant passed on
        if (hold != closing || !closeIfOpen(closing, then)) {
            return false;
        }
        hold = null;
        closedAt = now;
        closer = givenBack;
        closed(closing.options, then);
        return true;
    }

    /**
     * If nobody waits, neither here nor for the release, the grant is kept until the store sends, or is retained for longer. So
     * a thread that acquires again in the same instant still finds it, or has its claim sent together with the release.
     */
    private void closed(HoldOptions options, Effects then) {
        GrantState live = live();
        Waiter first = waiters.peek();
        boolean mayStay =
                !options.awaitRelease() && live.isValid() && (first == null || !live.mayHandOver(first.options));
        if (mayStay
                && !options.retain().isZero()
                && retention().isAllowed(options)
                && (first == null || retention().reported)) {
            // the bounds of hand-over do not count while the store watches and nobody waits
            retention().begin(options, then);
        } else if (mayStay && first == null) {
            linger(then);
        } else {
            passOn(then);
        }
    }

    /** Tells the caller that closed the last hold that its grant stays, unless that is yet to be decided. */
    private void answerCloser(Effects then) {
        if (!isIn(Phase.REFRESHING) && !isIn(Phase.LINGERING)) {
            notGivenBack(then);
        }
    }

    private void notGivenBack(Effects then) {
        CompletableFuture<Boolean> asked = closer;
        if (asked != null) {
            then.add(() -> asked.complete(false));
            closer = null;
        }
    }

    /**
     * The hold that was closed last; null if the store has confirmed the grant since then, which proves that it was closed
     * in time.
     */
    private @Nullable HoldState unconfirmed(GrantState of) {
        return closedAt - of.provedAt() < 0 ? null : of.lastHold();
    }

    // ---- the grant lingers, or is retained, and somebody comes ----

    private void linger(Effects then) {
        then.add(new Effects.Linger(this, live())); // first: no phase begins without what ends it
        phase = Phase.LINGERING;
    }

    /** The store is about to send, or another claim is to come behind the release. */
    void endOfLinger(GrantState of, Effects then) {
        if (isIn(Phase.LINGERING) && grant == of) {
            passOn(then);
        }
    }

    /** It is no longer retained: for callers that wait here it is renewed or claimed again, otherwise it is released. */
    void endRetention(Effects then) {
        Retention ended = retention();
        passOn(then);
        ended.end();
    }

    /** A caller came while the grant lingers or is retained. */
    private void takeUnused(Effects then) {
        Waiter first = waiters.peek();
        if (isIn(Phase.RETAINED)) {
            retention().take(then);
        } else if (isIn(Phase.LINGERING) && first != null && mayTakeOver(first)) {
            passOn(then);
        }
    }

    /** One who does not wait takes it while it lingers or is retained; false where that is not so, or may not be. */
    private boolean tryUnused(Waiter trying, Effects then) {
        boolean retained = isIn(Phase.RETAINED);
        if (!(retained ? retention().mayTake(trying) : isIn(Phase.LINGERING) && mayTakeOver(trying))) {
            return false;
        }
        if (giveTo(trying, live(), then)) {
            notGivenBack(then);
        } else if (retained) {
            retention().take(then);
        } else {
            passOn(then);
        }
        return true;
    }

    /** Whether it can be given as it is to one who came while it lingers. */
    private boolean mayTakeOver(Waiter waiter) {
        GrantState live = live();
        return nextTry() == null // who tries once is before those who wait
                && live.mayHandOver(waiter.options)
                && live.fits(waiter.options)
                && live.hasEnoughLease();
    }

    // ---- whether others want it ----

    private Retention retention() {
        Retention made = retention == null ? new Retention(this, live()) : retention;
        retention = made;
        return made;
    }

    @Override
    void checkReportsWanted() {
        if (!engine.store.capabilities().wanted()) {
            throw new UnsupportedByStoreException(engine.store.description() + " does not report when others wait for '"
                    + name + "': ask the status of the lock, or use another store");
        }
    }

    @Override
    void watch(HoldState held, Effects then) {
        if (hold == held) { // not closed or lost
            if (retention().wanted || !waiters.isEmpty()) {
                held.noteWanted();
            }
            retention().watch(then);
        }
    }

    @Override
    void wanted(GrantState of, Effects then) {
        if (grant == of) {
            retention().others(then);
        }
    }

    // ---- the store is asked, between two holds ----

    /** The bounds of hand-over are reached; false if the store is not asked, and the grant is to go back at once. */
    private boolean renumber(GrantState live, Effects then) {
        if (engine.store.capabilities().extendable()) {
            then.add(new Effects.FreshNumber(this, live));
            phase = Phase.REFRESHING;
            return true;
        }
        if (isIn(Phase.HELD)) {
            linger(then); // so that the claim behind it leaves with its release
            return true;
        }
        return false;
    }

    /** Renews it with the lease of the next holder, before anybody has it. */
    private void renewFor(Waiter next, Effects then) {
        then.add(new Effects.RenewFor(this, live(), next.options));
        phase = Phase.REFRESHING;
    }

    void refreshed(GrantState of, boolean standing, boolean freshNumber) {
        lock.transition(then -> {
            if (grant != of || !isIn(Phase.REFRESHING)) {
                return; // lost meanwhile
            }
            boolean kept = isKept(of);
            if (standing) {
                of.refreshed(freshNumber);
            }
            if (standing && freshNumber) {
                engine.claims.saw(of.grant().number());
                if (retention != null) {
                    retention.renumbered();
                }
            }
            if (standing && kept && of.isValid()) {
                passOn(then);
            } else {
                release(then);
            }
        });
    }

    /** Whether it is renewed with its new lease: the timer may have no thread for that. */
    private boolean isKept(GrantState of) {
        try {
            engine.renewer.changed(of);
            return true;
        } catch (Throwable noThread) {
            return false;
        }
    }

    // ---- the end of the grant ----

    private void release(Effects then) {
        GrantState back = live();
        // first: it is sent, and the lock goes on, whatever fails from here on
        if (lock.giveBack(back, unconfirmed(back), closer, then)) {
            closer = null;
            phase = Phase.RELEASING;
            drop();
            engine.renewer.forget(back);
        }
        answerCloser(then);
    }

    /** It is no longer this queue's. */
    private void drop() {
        grant = null;
        hold = null;
        if (retention != null) {
            retention.end();
            retention = null;
        }
    }

    @Override
    void giveUnusedBack(boolean retainedToo, Effects then) {
        if (isIn(Phase.LINGERING)) {
            passOn(then);
        } else if (retainedToo && isIn(Phase.RETAINED)) {
            endRetention(then);
        }
    }

    @Override
    void grantLost(GrantState lost, Loss.Cause cause, Effects then) {
        if (grant == lost) {
            lost(cause, then);
        }
    }

    /** It has ended otherwise than by its release. */
    private void lost(Loss.Cause cause, Effects then) {
        GrantState gone = live();
        HoldState loser = hold;
        HoldState last = unconfirmed(gone);
        boolean byTheStore = cause == Loss.Cause.GONE_FROM_STORE || cause == Loss.Cause.SESSION_ENDED;
        boolean mayBeWatched = retention != null && !byTheStore; // which only a release ends
        if (loser != null) {
            tellLoss(loser, cause, then); // first: if it fails, the loss is found again by who closes
        }
        drop();
        phase = Phase.IDLE; // as next() does: no phase is left without its grant, whatever fails from here on
        if (byTheStore && loser == null && last != null) {
            // a retained grant is not released, so no answer shows that the store had lost it at the close
            Effects.Note late = () -> engine.telemetry.lostUnnoticed(last, cause);
            then.add(late);
        }
        if (gone.mayStillStand(cause) || mayBeWatched) {
            boolean unused = loser == null && cause == Loss.Cause.CLIENT_CLOSED; // its release is as any other
            then.add(new Effects.Release(lock, gone, unused ? last : null, new CompletableFuture<>()));
        }
        next(then);
        answerCloser(then);
    }

    // ---- a writer becomes a reader ----

    /**
     * The grant goes to the readers of this client with its hold, and readers may join it; the waiters here claim again.
     *
     * @return false if it is not open and surely held
     */
    boolean downgrade(HoldState held, SharedQueue readers, Effects then) {
        GrantState live = grant;
        if (live == null || hold != held || !live.isValid()) {
            return false;
        }
        then.add(new Effects.Downgrade(this, live));
        try {
            readers.adopt(live, held, then);
        } finally {
            if (live.owner != this) {
                removeOwner(held);
                drop();
                next(then);
            }
        }
        return true;
    }

    // ---- what the renewer asks and reports ----

    @Override
    void forEachHoldOf(GrantState of, Consumer<HoldState> action) {
        HoldState now = hold;
        if (now != null && now.grant == of) {
            action.accept(now);
        }
    }

    @Override
    boolean stopRenewal(HoldState of, Loss.Cause cause) {
        return hold == of && of.grant.stopRenewal(cause);
    }

    /** If the store was asked after the last close, its hold was closed in time: no loss is reported to it. */
    @Override
    void confirmed(GrantState standing) {
        super.confirmed(standing);
        if (grant == standing && hold == null) {
            try (Effects then = lock.step()) {
                HoldState last = standing.lastHold();
                if (grant == standing && hold == null && last != null && unconfirmed(standing) == null) {
                    last.unpin(); // what its actions refer to is not kept for as long as the lock is retained
                }
            }
        }
    }
}
