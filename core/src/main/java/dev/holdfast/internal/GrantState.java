package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
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
 * handle it at any time from then on. If no answer comes it may be handled even after a later request, so from then on
 * no lease counts for longer than that one. A store that keeps requests in order keeps it within one connection; bytes
 * of a connection that broke may still arrive.
 *
 * <pre>
 *   VALID ◄──confirmed── SUSPECT        SUSPECT: the connection broke, or the machine slept
 *     │ ───── doubt ───────► │
 *     └─────────┬────────────┤
 *        LOST ◄─┴─► GIVEN_BACK          both final; whichever comes first
 * </pre>
 *
 * <p>One immutable {@link Validity} behind one atomic reference: renewal, loss and release race for it, and each sees
 * either the whole of another's change or nothing. Thread-safe.
 */
final class GrantState {
    private volatile GrantOwner owner;
    private final TimeSource time;
    private final boolean sessionBound;
    private final CompletableFuture<Boolean> released = new CompletableFuture<>();
    private final AtomicReference<Validity> validity;
    private volatile boolean autoRenew;
    private volatile long renewAt;
    /** A request that moves the lease is under way; there is never a second one, which could overtake it. */
    private final AtomicBoolean renewing = new AtomicBoolean();
    /** Such a request got no answer: the lease may last longer in the store than the deadline says. */
    private volatile boolean inDoubt;
    /** The lease that the request under way asks for; null when none is. */
    private volatile @Nullable Duration asking;
    /** The shortest lease that a request without an answer may still set, at any time; null if there is none. */
    private volatile @Nullable Duration shortestInDoubt;

    private volatile Loss.@Nullable Cause renewalStopped;
    /** The fixed lease of a hold whose session lives on; null where the session's own lease is all there is. */
    private volatile @Nullable FixedLease fixed;

    /** A lease that this client ends, by its own clock, since the store knows only the session's. */
    private record FixedLease(Duration lease, long end) {}

    private final TokenBlock tokens;

    GrantState(
            GrantOwner owner,
            Grant grant,
            boolean autoRenew,
            Capabilities store,
            TimeSource time,
            long wallLeadWhenSent) {
        this.owner = owner;
        this.sessionBound = store.sessionBound();
        this.autoRenew = autoRenew;
        this.time = time;
        this.validity = new AtomicReference<>(Validity.confirmed(grant, grant.sentNanos(), wallLeadWhenSent));
        this.renewAt = grant.sentNanos() + nanosOf(grant.lease()) / 3;
        this.tokens = new TokenBlock(time);
    }

    /** Whose it is: of those who want the name exclusively or, once its holder is content to read, of the readers. */
    GrantOwner owner() {
        return owner;
    }

    /** It is another queue's from now on; under the mutexes of both. */
    void moveTo(GrantOwner other) {
        owner = other;
    }

    Grant grant() {
        return validity.get().grant();
    }

    /** Whether it is surely held now. Changes nothing; the renewer acts on what it means. */
    boolean isValid() {
        Validity now = validity.get();
        return now.state() == Validity.State.VALID && !hasPassed(now) && !now.slept(wallLead());
    }

    private boolean hasPassed(Validity now) {
        return time.nanoTime() - endOf(now) >= 0;
    }

    private long endOf(Validity now) {
        FixedLease ends = fixed;
        return ends != null && ends.end - now.deadline() < 0 ? ends.end : now.deadline();
    }

    /** Begins the fixed lease of a holder, where the store knows only the session's; ends that of the one before. */
    void beginLease(HoldOptions options) {
        fixed = sessionBound && !options.autoRenew() ? fixedFromNow(options.lease()) : null;
    }

    private FixedLease fixedFromNow(Duration lease) {
        return new FixedLease(lease, time.nanoTime() + nanosOf(lease));
    }

    boolean isSessionBound() {
        return sessionBound;
    }

    /** How long it stays valid without a renewal, in nanoseconds; zero or less when not valid. */
    long remaining() {
        return isValid() ? deadline() - time.nanoTime() : 0;
    }

    /** Whether the deadline of a grant not yet lost has passed. */
    boolean hasRunOut() {
        Validity now = validity.get();
        return now.isOpen() && hasPassed(now);
    }

    /** Whether the wall clock has run ahead since the last confirmation: the machine slept, or its clock was set. */
    boolean hasSlept() {
        Validity now = validity.get();
        return now.state() == Validity.State.VALID && now.slept(wallLead());
    }

    long deadline() {
        return endOf(validity.get());
    }

    /** Takes the grant for invalid until a renewal, due at once, confirms it; false if it was not valid before. */
    boolean doubt() {
        while (true) {
            Validity now = validity.get();
            if (now.state() != Validity.State.VALID) {
                return false;
            }
            long at = time.nanoTime();
            if (validity.compareAndSet(now, now.doubted(at))) {
                renewAt = at;
                return true;
            }
        }
    }

    boolean isSuspect() {
        return validity.get().state() == Validity.State.SUSPECT;
    }

    /**
     * A renewal by the renewer succeeded: the store moved the lease, by a request sent at {@code sentNanos}.
     *
     * @return whether the grant goes on; false if its deadline had passed before, or it was lost or given back
     */
    boolean confirm(Grant renewed, long sentNanos, long wallLeadWhenSent) {
        return move(now -> {
            boolean sameLease = renewed.lease().equals(now.grant().lease());
            boolean later = Validity.deadline(renewed.withLease(sure(renewed.lease())), sentNanos) - now.deadline() > 0;
            // An answer that was overtaken by a change of lease, or by a later renewal, proves nothing new.
            return now.state() == Validity.State.SUSPECT || (sameLease && later)
                    ? now.moved(
                            now.grant().withLease(renewed.lease()), sentNanos, sure(renewed.lease()), wallLeadWhenSent)
                    : now;
        });
    }

    /**
     * The store gave the grant another lease, as its holder asked. The deadline may move closer.
     *
     * @return as {@link #confirm}
     */
    boolean changeLease(Duration lease, long sentNanos, long wallLeadWhenSent) {
        return move(now -> now.moved(now.grant().withLease(lease), sentNanos, sure(lease), wallLeadWhenSent));
    }

    /** Its holder asked for another fixed lease, and the session was confirmed: it counts from now. */
    void changeFixedLease(Duration lease) {
        if (fixed != null) {
            fixed = fixedFromNow(lease);
        }
    }

    /**
     * The store gave the grant a fresh number, and its lease anew.
     *
     * @return as {@link #confirm}
     */
    boolean renumber(Grant fresh, long wallLeadWhenSent) {
        return move(now -> now.moved(fresh, fresh.sentNanos(), sure(fresh.lease()), wallLeadWhenSent));
    }

    private boolean move(UnaryOperator<Validity> step) {
        while (true) {
            Validity now = validity.get();
            if (!now.isOpen() || hasPassed(now)) {
                return false;
            }
            Validity next = step.apply(now);
            if (next == now) {
                retryRenewal();
                return true;
            }
            if (validity.compareAndSet(now, next)) {
                boolean doubted = next.state() == Validity.State.SUSPECT;
                renewAt = doubted
                        ? time.nanoTime()
                        : next.deadline() - nanosOf(sure(next.grant().lease())) * 2 / 3;
                if (validity.get() != next && isSuspect()) {
                    renewAt = time.nanoTime(); // doubted in between: what was just written may have hidden that
                }
                return true;
            }
        }
    }

    /** Marks it lost; false if it was lost or given back before. */
    boolean lose(Loss.Cause cause) {
        return end(now -> now.lost(cause));
    }

    /** Why it was lost; null if it was not. */
    Loss.@Nullable Cause lossCause() {
        return validity.get().cause();
    }

    /** Marks it given back; false if it was lost or given back before. */
    boolean giveBack() {
        return end(Validity::givenBack);
    }

    private boolean end(UnaryOperator<Validity> step) {
        while (true) {
            Validity now = validity.get();
            if (!now.isOpen()) {
                return false;
            }
            if (validity.compareAndSet(now, step.apply(now))) {
                return true;
            }
        }
    }

    boolean isOpen() {
        return validity.get().isOpen();
    }

    boolean isGivenBack() {
        return validity.get().state() == Validity.State.GIVEN_BACK;
    }

    /** The store's answer to the release, once it is given back: whether the grant had still been there. */
    CompletableFuture<Boolean> released() {
        return released;
    }

    // ---- renewal: read and written by the renewer ----

    /** When it is next due to be renewed, or to have run out. */
    long dueAt() {
        long deadline = deadline();
        return renewable() && renewAt - deadline < 0 ? renewAt : deadline;
    }

    boolean renewable() {
        return (autoRenew || sessionBound || isSuspect()) && renewalStopped == null && !renewing.get();
    }

    /** Whether renewal is due by then. */
    boolean isDue(long by) {
        return renewable() && renewAt - by <= 0;
    }

    /**
     * The grant as it is to be renewed: a fixed lease is confirmed for what is left of it, not made longer. A session is
     * renewed in any case; the fixed lease within it ends here.
     */
    Grant toRenew() {
        Grant grant = grant();
        if (autoRenew || sessionBound) {
            return asks(grant);
        }
        long margin = Validity.margin(grant);
        long left = Math.max(deadline() + margin - time.nanoTime(), margin);
        return asks(grant.withLease(Duration.ofNanos(left)));
    }

    /** The grant as it is to be renewed for another lease, as its holder asks. */
    Grant toChange(Duration lease) {
        return asks(grant().withLease(lease));
    }

    /** What is about to be sent: from now on the store may end the lease as soon as this says. */
    private Grant asks(Grant request) {
        asking = request.lease();
        if (!sessionBound) {
            long nearest = Validity.deadline(request, time.nanoTime());
            Validity now = validity.get();
            while (now.isOpen()
                    && nearest - now.deadline() < 0
                    && !validity.compareAndSet(now, now.shortened(nearest))) {
                now = validity.get();
            }
        }
        return request;
    }

    /** How much of a lease that the store confirmed is sure. */
    private Duration sure(Duration lease) {
        Duration doubtful = shortestInDoubt;
        return doubtful == null || doubtful.compareTo(lease) > 0 ? lease : doubtful;
    }

    /** Begins a request that moves the lease; false while another is under way. */
    boolean beginRenewal() {
        return renewing.compareAndSet(false, true);
    }

    /** The request has an answer, or failed. */
    void endRenewal(boolean answered) {
        Duration asked = asking;
        Duration shortest = shortestInDoubt;
        asking = null;
        if (!answered) {
            inDoubt = true;
            if (asked != null && !sessionBound && (shortest == null || asked.compareTo(shortest) < 0)) {
                shortestInDoubt = asked;
            }
        }
        renewing.set(false);
    }

    /** After a renewal without an answer: again soon, several times before the deadline. */
    void retryRenewal() {
        renewAt = time.nanoTime() + nanosOf(grant().lease()) / 12;
    }

    /** Lets the grant run out instead of renewing it; false if that was decided before. */
    boolean stopRenewal(Loss.Cause cause) {
        if (renewalStopped != null) {
            return false;
        }
        renewalStopped = cause;
        return true;
    }

    /** Why it ends when its deadline passes. */
    Loss.Cause endCause() {
        Loss.Cause stopped = renewalStopped;
        if (stopped != null) {
            return stopped;
        }
        return autoRenew || inDoubt || isSuspect() ? Loss.Cause.NOT_RENEWED_IN_TIME : Loss.Cause.FIXED_LEASE_ENDED;
    }

    /** Whether a renewal may have moved the lease beyond the deadline we know of. */
    boolean mayOutliveDeadline() {
        return inDoubt || renewing.get() || sessionBound || (autoRenew && renewalStopped == null);
    }

    // ---- hand-over: under the local queue's mutex ----

    /** Whether a waiter with these options can be given this grant as it is. */
    boolean fits(HoldOptions options) {
        Duration underWay = asking;
        return autoRenew == options.autoRenew()
                && renewalStopped == null
                && (underWay == null || underWay.equals(grant().lease()))
                && (sessionBound ? fitsFixed(options) : grant().lease().equals(options.lease()));
    }

    private boolean fitsFixed(HoldOptions options) {
        FixedLease ends = fixed;
        return ends == null || ends.lease.equals(options.lease());
    }

    /** A third of the lease: less, and the next holder would begin with a grant about to run out. */
    boolean hasEnoughLease() {
        FixedLease ends = fixed;
        return remaining() >= nanosOf(ends == null ? grant().lease() : ends.lease) / 3;
    }

    /** Adopts the options of the next holder before the grant is renewed for it. */
    Grant toHandOver(HoldOptions options) {
        autoRenew = options.autoRenew();
        renewalStopped = null;
        beginLease(options);
        return asks(grant().withLease(leaseFor(options)));
    }

    /** The lease a holder gets: its own, or that of the session. */
    Duration leaseFor(HoldOptions options) {
        return sessionBound ? grant().lease() : options.lease();
    }

    /** The tokens under the present grant number, and who had them. */
    TokenBlock tokens() {
        return tokens;
    }

    /** The token of the next hold under this grant. */
    long nextToken() {
        return Tokens.token(grant().number(), tokens.used());
    }

    long wallLead() {
        return wallLead(time);
    }

    /** How far the wall clock is ahead of {@code nanoTime}: it grows while the machine sleeps. */
    static long wallLead(TimeSource time) {
        return TimeUnit.MILLISECONDS.toNanos(time.wallMillis()) - time.nanoTime();
    }

    private static long nanosOf(Duration duration) {
        return Durations.nanos(duration);
    }
}
