package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.Loss;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The requests that move the lease of one grant: when the next is due, the one under way, and what those without an
 * answer leave unknown.
 *
 * <p>At most one request is under way, so no request overtakes another. The store may still handle a request that got
 * no answer, even after a later one: it keeps the order of requests only within one connection, and bytes of a broken
 * connection may still arrive. From then on the lease in the store may last longer than the deadline says. So no later
 * lease counts for longer than the shortest lease that such a request asked for. Thread-safe.
 */
final class RenewalState {
    private final boolean sessionBound;
    private volatile boolean autoRenew;
    private volatile long plannedAt;
    private final AtomicBoolean underWay = new AtomicBoolean();
    /** A request got no answer. */
    private volatile boolean inDoubt;
    /** The lease that the request under way asks for; null when none is. */
    private volatile @Nullable Duration asking;
    /** The shortest lease that a request without an answer may still set; null if there is none. */
    private volatile @Nullable Duration shortestInDoubt;

    private volatile Loss.@Nullable Cause stopped;

    RenewalState(boolean sessionBound, boolean autoRenew, long firstAt) {
        this.sessionBound = sessionBound;
        this.autoRenew = autoRenew;
        this.plannedAt = firstAt;
    }

    /** When the next one is due, by {@code nanoTime}, if one is wanted. */
    long plannedAt() {
        return plannedAt;
    }

    void planAt(long nanoTime) {
        plannedAt = nanoTime;
    }

    /**
     * Whether the grant is to be renewed, and may be now.
     *
     * @param suspect whether it is in doubt, which only a renewal can end
     */
    boolean isWanted(boolean suspect) {
        return (autoRenew || sessionBound || suspect) && stopped == null && !underWay.get();
    }

    /** Whether a renewal asks for the whole lease again; for a fixed one it asks for what is left. */
    boolean extendsLease() {
        return autoRenew || sessionBound;
    }

    /** Begins a request that moves the lease; false while another is under way. */
    boolean begin() {
        return underWay.compareAndSet(false, true);
    }

    /** Whether a request that moves the lease has begun and not ended. */
    boolean isUnderWay() {
        return underWay.get();
    }

    /** Notes what the request under way is about to ask for. */
    void asks(Duration lease) {
        asking = lease;
    }

    /**
     * Whether the request under way asks for that lease; one that has begun and is not noted yet may ask for another.
     */
    boolean isFor(Duration lease) {
        return lease.equals(asking);
    }

    /** The request has an answer, or failed. */
    void end(boolean answered) {
        Duration asked = asking;
        Duration shortest = shortestInDoubt;
        asking = null;
        if (!answered) {
            inDoubt = true;
            if (asked != null && !sessionBound && (shortest == null || asked.compareTo(shortest) < 0)) {
                shortestInDoubt = asked;
            }
        }
        underWay.set(false);
    }

    /** How much of a lease that the store confirmed is sure. */
    Duration sure(Duration lease) {
        Duration doubtful = shortestInDoubt;
        return doubtful == null || doubtful.compareTo(lease) > 0 ? lease : doubtful;
    }

    /** Lets the grant run out instead of renewing it; false if that was decided before. */
    boolean stop(Loss.Cause cause) {
        if (stopped != null) {
            return false;
        }
        stopped = cause;
        return true;
    }

    /** Why the grant ends when its deadline passes. */
    Loss.Cause endCause(boolean suspect) {
        Loss.Cause why = stopped;
        if (why != null) {
            return why;
        }
        return autoRenew || inDoubt || suspect ? Loss.Cause.NOT_RENEWED_IN_TIME : Loss.Cause.FIXED_LEASE_ENDED;
    }

    /** Whether a grant that has ended here may still exist in the store, and is to be cleared there. */
    boolean mayStillStand(Loss.Cause cause) {
        return switch (cause) {
            case GONE_FROM_STORE, SESSION_ENDED -> false;
            case CLIENT_CLOSED -> true;
            case NOT_RENEWED_IN_TIME, FIXED_LEASE_ENDED, MAX_HOLD_REACHED, LEAKED -> mayOutliveDeadline();
        };
    }

    /** Whether a request may have moved the lease beyond the known deadline. */
    private boolean mayOutliveDeadline() {
        return inDoubt || underWay.get() || sessionBound || (autoRenew && stopped == null);
    }

    /** Whether it goes on unchanged for the next holder, by its options. */
    boolean goesOnFor(HoldOptions next) {
        return autoRenew == next.autoRenew() && stopped == null;
    }

    /** Begins again, for the next holder. */
    void beginFor(HoldOptions next) {
        autoRenew = next.autoRenew();
        stopped = null;
    }
}
