package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A grant as its client sees it: until when it is surely valid, and what became of it.
 *
 * <p>Validity is decided here, by this machine alone and early:
 *
 * <pre>
 *   request sent            deadline       lease ends in the store, at the earliest
 *        │◄──── lease − margin ──►│◄─ margin ─►│
 *        │     valid              │ not valid   │ another may hold
 * </pre>
 *
 * The store begins to count the lease when it handles the request, never before it was sent, so a deadline counted from
 * the sending ends first, by at least the margin, provided that the two clocks run at rates within 1 % of each other.
 * (Gray and Cheriton, "Leases", 1989, count the same way.) Only an answer that proves that the store moved the lease
 * moves the deadline, and only while the old one has not passed.
 *
 * <p>A request for a shorter lease moves the deadline closer when it is sent, not when it is answered: the store may
 * handle it at any time from then on.
 *
 * <p>At most one request that moves the lease is under way, so none overtakes another. The store may still handle one that
 * got no answer, even after a later one: it keeps the order of requests only within one connection, and bytes of a broken
 * connection may still arrive. From then on no later lease counts for longer than the shortest that such a request asked
 * for, and the lease in the store may last longer than the deadline says.
 *
 * <pre>
 *   VALID ◄──confirmed── SUSPECT        SUSPECT: the connection broke, or the machine slept
 *     │ ───── doubt ───────► │
 *     └─────────┬────────────┤
 *        LOST ◄─┴─► GIVEN_BACK          both final; whichever comes first
 * </pre>
 *
 * <p>One {@code Validity} behind one atomic reference: renewal, loss and release race for it, and each sees either the whole
 * of another's change or nothing. Only the planned renewal of a valid grant moves the deadline in place: an object for each
 * would cost more than all else that a hundred thousand grants need between two renewals. Thread-safe, but for the tokens,
 * which the mutex of its lock guards.
 */
final class GrantState {
    private static final long SMALLEST_MARGIN = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long MARGIN_DIVISOR = 100;

    /** VALID and SUSPECT change into each other; LOST and GIVEN_BACK are final. */
    private enum State {
        VALID,
        SUSPECT,
        LOST,
        GIVEN_BACK
    }

    /** Its state at one moment, which changes as a whole, but for {@link #moved} of the same grant. */
    private static final class Validity {
        final State state;
        /** Until when it is surely valid, by {@code nanoTime}. */
        volatile long deadline;
        /** How long the machine had slept, by {@link ElapsedTime}, when the request was sent that confirmed it. */
        volatile long slept;
        /** When it became suspect, by {@code nanoTime}; what was sent before proves nothing. */
        final long doubtedAt;
        /** As the store last gave or moved it. */
        final Grant grant;
        /** Why it was lost; null where it was not. */
        final Loss.@Nullable Cause cause;

        Validity(State state, long deadline, long slept, long doubtedAt, Grant grant, Loss.@Nullable Cause cause) {
            this.state = state;
            this.deadline = deadline;
            this.slept = slept;
            this.doubtedAt = doubtedAt;
            this.grant = grant;
            this.cause = cause;
        }

        /** Valid, as the store gave or moved it by a request sent at {@code sentNanos}. */
        Validity(Grant grant, long sentNanos, long slept) {
            this(State.VALID, deadline(Durations.nanos(grant.lease()), sentNanos), slept, 0, grant, null);
        }

        /** Until when a grant is valid whose lease was begun by a request sent at {@code sentNanos}. */
        static long deadline(long lease, long sentNanos) {
            return sentNanos + lease - margin(lease);
        }

        static long margin(long lease) {
            return Math.max(lease / MARGIN_DIVISOR, SMALLEST_MARGIN);
        }

        /**
         * As the store moved it by a request sent at {@code sentNanos}; a doubt that came after the request remains. Then the
         * deadline does not move closer, because a wall clock that was set forward must not end a grant that the store keeps.
         * If the grant is valid and the same, its deadline moves here.
         *
         * @param surely how much of the lease is sure, in nanoseconds, where an earlier request may still make it shorter
         */
        Validity moved(Grant newGrant, long sentNanos, long surely, long newSlept) {
            long moved = deadline(surely, sentNanos);
            if (state == State.VALID && newGrant == grant && moved - deadline > 0) {
                slept = newSlept; // first: a sleep is not found that this answer has outlived
                deadline = moved;
                return this;
            }
            long later = moved - deadline > 0 ? moved : deadline;
            return state == State.SUSPECT && sentNanos - doubtedAt < 0
                    ? new Validity(State.SUSPECT, later, newSlept, doubtedAt, newGrant, null)
                    : new Validity(State.VALID, moved, newSlept, 0, newGrant, null);
        }

        /** With a nearer deadline: a request on its way may make the lease end then. */
        Validity shortened(long nearer) {
            return new Validity(state, nearer, slept, doubtedAt, grant, cause);
        }

        /** Neither lost nor released. */
        boolean isOpen() {
            return state == State.VALID || state == State.SUSPECT;
        }

        /** Whether the machine slept since, or its wall clock was set forward. */
        boolean hasSlept(long sleptByNow) {
            return sleptByNow - slept > SMALLEST_MARGIN && sleptByNow - slept > margin(Durations.nanos(grant.lease()));
        }
    }

    private record Term(Duration lease, long end) {}

    private static final AtomicReferenceFieldUpdater<GrantState, Validity> VALIDITY =
            AtomicReferenceFieldUpdater.newUpdater(GrantState.class, Validity.class, "validity");

    private static final AtomicIntegerFieldUpdater<GrantState> RENEWING =
            AtomicIntegerFieldUpdater.newUpdater(GrantState.class, "renewing");

    /** The queue of the callers that want the name exclusively or, after a downgrade, of the readers; it changes under the mutex. */
    volatile WaitQueue owner;

    private final ElapsedTime time;
    final boolean sessionBound;
    private volatile Validity validity;
    /**
     * The fixed lease of a holder where the store knows only the session's, which lives on: this client ends it, by its own
     * clock. Null where the holder has none.
     */
    private volatile @Nullable Term term;

    // ---- its renewal ----
    private volatile boolean autoRenew;
    private volatile long plannedAt;
    /** 1 while a request that moves the lease is under way. */
    private volatile int renewing;
    /** The lease that the request under way asks for, in nanoseconds; 0 when none is. */
    private volatile long asking;
    /** A request got no answer. */
    private volatile boolean inDoubt;
    /** The shortest lease that a request without an answer may still set, in nanoseconds. */
    private volatile long shortestInDoubt = Long.MAX_VALUE;

    private volatile Loss.@Nullable Cause stopped;

    // ---- its tokens; under the mutex ----
    private short tokensUsed;
    /** The same when the store gave it, numbered it, or renewed it for its next holder. */
    private short usedWhenConfirmed;

    private long numberSince;
    private @Nullable HoldState lastHold;

    GrantState(
            WaitQueue owner, Grant grant, boolean autoRenew, Capabilities store, ElapsedTime time, long sleptWhenSent) {
        this.owner = owner;
        this.sessionBound = store.sessionBound();
        this.time = time;
        this.validity = new Validity(grant, grant.sentNanos(), sleptWhenSent);
        this.autoRenew = autoRenew;
        this.plannedAt = grant.sentNanos() + Durations.nanos(grant.lease()) / 3;
        this.numberSince = time.nanoTime();
    }

    /** The lock that it is a grant of. */
    LocalLock lock() {
        return owner.lock;
    }

    Grant grant() {
        return validity.grant;
    }

    /** Whether it is surely held now. Changes nothing; the renewer acts on what it means. */
    boolean isValid() {
        Validity now = validity;
        return now.state == State.VALID && !hasPassed(now) && !now.hasSlept(time.slept());
    }

    private boolean hasPassed(Validity now) {
        return time.nanoTime() - endOf(now) >= 0;
    }

    private long endOf(Validity now) {
        Term fixed = term;
        return fixed != null && fixed.end - now.deadline < 0 ? fixed.end : now.deadline;
    }

    /** Begins the fixed lease of a holder, where the store knows only the session's; ends that of the one before. */
    void beginLease(HoldOptions options) {
        term = sessionBound && !options.autoRenew() ? fromNow(options.lease()) : null;
    }

    private Term fromNow(Duration lease) {
        return new Term(lease, time.nanoTime() + Durations.nanos(lease));
    }

    /** How long it stays valid without a renewal, in nanoseconds; zero or less when not valid. */
    long remaining() {
        return isValid() ? deadline() - time.nanoTime() : 0;
    }

    /** Whether the deadline of a grant not yet lost has passed. */
    boolean hasRunOut() {
        Validity now = validity;
        return now.isOpen() && hasPassed(now);
    }

    /** Whether the machine slept since the last confirmation, or its wall clock was set forward. */
    boolean hasSlept() {
        return hasSlept(time.slept());
    }

    /** The same, for a caller that reads that once for many grants. */
    boolean hasSlept(long slept) {
        Validity now = validity;
        return now.state == State.VALID && now.hasSlept(slept);
    }

    long deadline() {
        return endOf(validity);
    }

    /** When the last request that confirmed it was sent, or somewhat before. */
    long provedAt() {
        Validity now = validity;
        return now.deadline - Validity.deadline(Durations.nanos(now.grant.lease()), 0);
    }

    /** Takes the grant for invalid until a renewal, due at once, confirms it; false if it was not valid before. */
    boolean doubt() {
        while (true) {
            Validity now = validity;
            if (now.state != State.VALID) {
                return false;
            }
            long at = time.nanoTime();
            Validity doubted = new Validity(State.SUSPECT, now.deadline, now.slept, at, now.grant, null);
            if (VALIDITY.compareAndSet(this, now, doubted)) {
                doubted.deadline = now.deadline; // a renewal that did not see the doubt may have moved it
                plannedAt = at;
                return true;
            }
        }
    }

    boolean isSuspect() {
        return validity.state == State.SUSPECT;
    }

    /**
     * A renewal by the renewer succeeded: the store moved the lease, by a request sent at {@code sentNanos}.
     *
     * @return whether the grant goes on; false if its deadline had passed before, or it was lost or released
     */
    boolean confirm(Grant renewed, long sentNanos, long sleptWhenSent) {
        return move(now -> {
            boolean sameLease = renewed.lease().equals(now.grant.lease());
            boolean later = Validity.deadline(sure(renewed.lease()), sentNanos) - now.deadline > 0;
            // An answer that was overtaken by a change of lease, or by a later renewal, proves nothing new.
            return now.state == State.SUSPECT || (sameLease && later)
                    ? now.moved(now.grant.withLease(renewed.lease()), sentNanos, sure(renewed.lease()), sleptWhenSent)
                    : now;
        });
    }

    /**
     * The store gave the grant another lease, as its holder asked. The deadline may move closer.
     *
     * @return as {@link #confirm}
     */
    boolean changeLease(Duration lease, long sentNanos, long sleptWhenSent) {
        return move(now -> now.moved(now.grant.withLease(lease), sentNanos, sure(lease), sleptWhenSent));
    }

    /** Its holder asked for another fixed lease, and the session was confirmed: it counts from now. */
    void changeFixedLease(Duration lease) {
        if (term != null) {
            term = fromNow(lease);
        }
    }

    /**
     * The store gave the grant a fresh number, and begins its lease again.
     *
     * @return as {@link #confirm}
     */
    boolean renumber(Grant fresh, long sleptWhenSent) {
        return move(now -> now.moved(fresh, fresh.sentNanos(), sure(fresh.lease()), sleptWhenSent));
    }

    private boolean move(UnaryOperator<Validity> step) {
        while (true) {
            Validity now = validity;
            if (!now.isOpen() || hasPassed(now)) {
                return false;
            }
            long before = now.deadline;
            Validity next = step.apply(now);
            if (next == now && now.deadline == before) {
                retryRenewal();
                return true;
            }
            if (next == now ? validity == now : VALIDITY.compareAndSet(this, now, next)) {
                boolean doubted = next.state == State.SUSPECT;
                plannedAt = doubted ? time.nanoTime() : next.deadline - sure(next.grant.lease()) * 2 / 3;
                if (validity != next && isSuspect()) {
                    plannedAt = time.nanoTime(); // doubted meanwhile: the value just written may have hidden that
                }
                return true;
            }
        }
    }

    /** Marks it lost; false if it was lost or released before. */
    boolean lose(Loss.Cause cause) {
        return end(State.LOST, cause);
    }

    /** Why it was lost; null if it was not. */
    Loss.@Nullable Cause lossCause() {
        return validity.cause;
    }

    /** Marks it released; false if it was lost or released before. */
    boolean giveBack() {
        return end(State.GIVEN_BACK, null);
    }

    private boolean end(State how, Loss.@Nullable Cause why) {
        return VALIDITY.getAndUpdate(
                        this,
                        now -> now.isOpen()
                                ? new Validity(how, now.deadline, now.slept, now.doubtedAt, now.grant, why)
                                : now)
                .isOpen();
    }

    boolean isOpen() {
        return validity.isOpen();
    }

    boolean isGivenBack() {
        return validity.state == State.GIVEN_BACK;
    }

    // ---- renewal: read and written by the renewer ----

    /** When it is next due to be renewed, or to have run out. */
    long dueAt() {
        long deadline = deadline();
        return isRenewalWanted() && plannedAt - deadline < 0 ? plannedAt : deadline;
    }

    /** Whether renewal is due by then. */
    boolean isDue(long by) {
        return isRenewalWanted() && plannedAt - by <= 0;
    }

    /** Whether it is to be renewed, and may be now; a doubt is ended by nothing else. */
    private boolean isRenewalWanted() {
        return (extendsLease() || isSuspect()) && stopped == null && renewing == 0;
    }

    /** Whether a renewal asks for the whole lease again; for a fixed one it asks for what is left. */
    private boolean extendsLease() {
        return autoRenew || sessionBound;
    }

    /** Begins a request that moves the lease; false while another is under way. */
    boolean beginRenewal() {
        return RENEWING.compareAndSet(this, 0, 1);
    }

    /** The request has an answer, or failed. */
    void endRenewal(boolean answered) {
        if (!answered) {
            inDoubt = true;
            if (asking != 0 && !sessionBound) {
                shortestInDoubt = Math.min(asking, shortestInDoubt);
            }
        }
        asking = 0;
        renewing = 0;
    }

    /** How much of a lease that the store confirmed is sure, in nanoseconds. */
    private long sure(Duration lease) {
        return Math.min(Durations.nanos(lease), shortestInDoubt);
    }

    /** A renewal has begun that waits for its turn: unless it ends a fixed lease, what it will ask for is said now. */
    void announceRenewal() {
        if (extendsLease()) {
            asking = Durations.nanos(grant().lease());
        }
    }

    /**
     * The grant as it is to be renewed: a fixed lease is confirmed for what is left of it, not made longer. A session is
     * renewed in any case; the fixed lease within it ends here.
     */
    Grant toRenew() {
        Grant grant = grant();
        if (extendsLease()) {
            return asks(grant);
        }
        long margin = Validity.margin(Durations.nanos(grant.lease()));
        long left = Math.max(deadline() + margin - time.nanoTime(), margin);
        return asks(grant.withLease(Duration.ofNanos(left)));
    }

    /** The grant as it is to be renewed for another lease, as its holder asks. */
    Grant toChange(Duration lease) {
        return asks(grant().withLease(lease));
    }

    /** The request about to be sent: from now on the store may end the lease as soon as this request says. */
    private Grant asks(Grant request) {
        asking = Durations.nanos(request.lease());
        if (!sessionBound) {
            long nearest = Validity.deadline(asking, time.nanoTime());
            VALIDITY.updateAndGet(
                    this, now -> now.isOpen() && nearest - now.deadline < 0 ? now.shortened(nearest) : now);
        }
        return request;
    }

    /** After a renewal without an answer: again soon, several times before the deadline. */
    void retryRenewal() {
        plannedAt = time.nanoTime() + Durations.nanos(grant().lease()) / 12;
    }

    /** Lets it run out instead of renewing it; false if that was decided before. */
    boolean stopRenewal(Loss.Cause cause) {
        if (stopped != null) {
            return false;
        }
        stopped = cause;
        return true;
    }

    /** Why it ends when its deadline passes. */
    Loss.Cause endCause() {
        Loss.Cause why = stopped;
        if (why != null) {
            return why;
        }
        return autoRenew || inDoubt || isSuspect() ? Loss.Cause.NOT_RENEWED_IN_TIME : Loss.Cause.FIXED_LEASE_ENDED;
    }

    /** Whether it may still exist in the store when it has ended here, and is to be cleared there. */
    boolean mayStillStand(Loss.Cause cause) {
        return switch (cause) {
            case GONE_FROM_STORE, SESSION_ENDED -> false;
            case CLIENT_CLOSED -> true;
            case NOT_RENEWED_IN_TIME, FIXED_LEASE_ENDED, MAX_HOLD_REACHED, LEAKED ->
                inDoubt || renewing != 0 || sessionBound || (autoRenew && stopped == null);
        };
    }

    // ---- hand-over: under the mutex of its lock ----

    /**
     * Whether a waiter with these options can be given this grant as it is: also while a request is under way, if that one leaves
     * the lease as it is. In a session every request asks for the session's lease, so it does not say whether its answer is to
     * change the fixed lease within.
     */
    boolean fits(HoldOptions options) {
        boolean settled = renewing == 0 || (Durations.nanos(grant().lease()) == asking && term == null);
        return settled && fitsOnceSettled(options);
    }

    /** The same, where the request under way leaves the lease as it is. */
    boolean fitsOnceSettled(HoldOptions options) {
        Term fixed = term;
        return goesOnFor(options)
                && (fixed == null
                        ? sessionBound || grant().lease().equals(options.lease())
                        : fixed.lease.equals(options.lease()));
    }

    /** Whether it is renewed for the next holder as it is now. */
    boolean goesOnFor(HoldOptions next) {
        return autoRenew == next.autoRenew() && stopped == null;
    }

    /** A third of the lease: less, and the next holder would begin with a grant about to run out. */
    boolean hasEnoughLease() {
        Term fixed = term;
        return remaining() >= Durations.nanos(fixed == null ? grant().lease() : fixed.lease) / 3;
    }

    /** Adopts the options of the next holder before the grant is renewed for it. */
    Grant toHandOver(HoldOptions options) {
        autoRenew = options.autoRenew();
        stopped = null;
        beginLease(options);
        return asks(grant().withLease(leaseFor(options)));
    }

    /** The lease a holder gets: its own, or that of the session. */
    Duration leaseFor(HoldOptions options) {
        return sessionBound ? grant().lease() : options.lease();
    }

    // ---- tokens: under the mutex ----

    /** The token of the next hold. */
    long nextToken() {
        return Tokens.token(grant().number(), tokensUsed);
    }

    /** Whether the bounds of hand-over allow one more under the present grant number, without asking the store. */
    boolean mayHandOver(HoldOptions options) {
        return tokensUsed == 0
                || (!options.strictFifo()
                        && tokensUsed <= options.maxHandOvers()
                        && (isUntouched() || isYoungEnough(options)));
    }

    private boolean isYoungEnough(HoldOptions options) {
        return time.nanoTime() - numberSince <= Durations.nanos(options.maxHandOverTime());
    }

    /**
     * Whether no hold was given out since the store gave it, numbered it, or renewed it for its next holder. Then neither the
     * time since its number counts, nor how much of its lease is left: however slow the store is, its answer is used.
     */
    boolean isUntouched() {
        return tokensUsed == usedWhenConfirmed;
    }

    /** The store renewed it for its next holder, or gave it a fresh number, with which a new block of tokens begins. */
    void refreshed(boolean freshNumber) {
        if (freshNumber) {
            tokensUsed = 0;
            numberSince = time.nanoTime();
        }
        usedWhenConfirmed = tokensUsed;
    }

    /** A hold was given out: its token is used up. */
    void given(HoldState hold) {
        tokensUsed++;
        lastHold = hold;
    }

    /** The hold given out last was not taken: its token is free for the next, and the one before it is the last. */
    void notTaken(@Nullable HoldState before) {
        tokensUsed--;
        lastHold = before;
    }

    /** Whether no hold was given out under the present grant number yet. */
    boolean isFresh() {
        return tokensUsed == 0 && lastHold == null;
    }

    /** Whether one more hold can be distinguished from those that had it exclusively under the present grant number. */
    boolean hasTokenLeft() {
        return tokensUsed < Tokens.BLOCK;
    }

    /** The last hold that began or ended, of holds beside each other, which share a token; null if there was none. */
    void lastBeside(@Nullable HoldState hold) {
        lastHold = hold;
    }

    /** The hold that was given out last, or of several beside each other the one closed last; null if there was none. */
    @Nullable
    HoldState lastHold() {
        return lastHold;
    }
}
