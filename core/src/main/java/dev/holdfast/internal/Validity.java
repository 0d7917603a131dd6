package dev.holdfast.internal;

import dev.holdfast.Loss;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state of a grant at one moment; immutable, so that it changes as a whole.
 *
 * @param state what it is now
 * @param deadline until when it is surely valid, by {@code nanoTime}
 * @param wallLead wall clock minus {@code nanoTime} when it was confirmed: it grows when the machine sleeps
 * @param doubtedAt when it became suspect, by {@code nanoTime}; what was sent before proves nothing
 * @param grant as the store last gave or moved it
 * @param cause why it was lost; null where it was not
 */
record Validity(State state, long deadline, long wallLead, long doubtedAt, Grant grant, Loss.@Nullable Cause cause) {
    private static final long SMALLEST_MARGIN = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long MARGIN_DIVISOR = 100;

    /** VALID and SUSPECT change into each other; LOST and GIVEN_BACK are final. */
    enum State {
        VALID,
        SUSPECT,
        LOST,
        GIVEN_BACK
    }

    /** A grant that the store gave or moved by a request sent at {@code sentNanos}. */
    static Validity confirmed(Grant grant, long sentNanos, long wallLead) {
        return new Validity(State.VALID, deadline(grant, sentNanos), wallLead, 0, grant, null);
    }

    /** Until when a grant is valid whose lease was begun by a request sent at {@code sentNanos}. */
    static long deadline(Grant grant, long sentNanos) {
        return sentNanos + Durations.nanos(grant.lease()) - margin(grant);
    }

    static long margin(Grant grant) {
        return Math.max(Durations.nanos(grant.lease()) / MARGIN_DIVISOR, SMALLEST_MARGIN);
    }

    Validity lost(Loss.Cause why) {
        return new Validity(State.LOST, deadline, wallLead, doubtedAt, grant, why);
    }

    Validity givenBack() {
        return new Validity(State.GIVEN_BACK, deadline, wallLead, doubtedAt, grant, null);
    }

    Validity doubted(long nanoTime) {
        return new Validity(State.SUSPECT, deadline, wallLead, nanoTime, grant, null);
    }

    /**
     * As the store moved it by a request sent at {@code sentNanos}; a doubt that came after the request remains.
     *
     * @param surely how much of the lease is sure, where an earlier request may still make it shorter
     */
    Validity moved(Grant newGrant, long sentNanos, Duration surely, long newWallLead) {
        long deadline = deadline(newGrant.withLease(surely), sentNanos);
        Validity confirmed = new Validity(State.VALID, deadline, newWallLead, 0, newGrant, null);
        return state == State.SUSPECT && sentNanos - doubtedAt < 0
                ? new Validity(State.SUSPECT, confirmed.deadline, newWallLead, doubtedAt, newGrant, null)
                : confirmed;
    }

    /** With a nearer deadline: a request on its way may make the lease end then. */
    Validity shortened(long nearer) {
        return new Validity(state, nearer, wallLead, doubtedAt, grant, cause);
    }

    /** Neither lost nor released. */
    boolean isOpen() {
        return state == State.VALID || state == State.SUSPECT;
    }

    /** Whether the wall clock has run ahead since: the machine slept, or its clock was set. */
    boolean slept(long wallLeadNow) {
        long ahead = wallLeadNow - wallLead;
        return ahead > ElapsedTime.SMALLEST_SLEEP && ahead > margin(grant);
    }
}
