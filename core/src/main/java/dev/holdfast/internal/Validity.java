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
 * @param slept how long the machine had slept, by {@link ElapsedTime}, when the request was sent that confirmed it
 * @param doubtedAt when it became suspect, by {@code nanoTime}; what was sent before proves nothing
 * @param grant as the store last gave or moved it
 * @param cause why it was lost; null where it was not
 */
record Validity(State state, long deadline, long slept, long doubtedAt, Grant grant, Loss.@Nullable Cause cause) {
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
    static Validity confirmed(Grant grant, long sentNanos, long slept) {
        return new Validity(State.VALID, deadline(grant, sentNanos), slept, 0, grant, null);
    }

    /** Until when a grant is valid whose lease was begun by a request sent at {@code sentNanos}. */
    static long deadline(Grant grant, long sentNanos) {
        return sentNanos + Durations.nanos(grant.lease()) - margin(grant);
    }

    static long margin(Grant grant) {
        return Math.max(Durations.nanos(grant.lease()) / MARGIN_DIVISOR, SMALLEST_MARGIN);
    }

    Validity lost(Loss.Cause why) {
        return new Validity(State.LOST, deadline, slept, doubtedAt, grant, why);
    }

    Validity givenBack() {
        return new Validity(State.GIVEN_BACK, deadline, slept, doubtedAt, grant, null);
    }

    Validity doubted(long nanoTime) {
        return new Validity(State.SUSPECT, deadline, slept, nanoTime, grant, null);
    }

    /**
     * As the store moved it by a request sent at {@code sentNanos}; a doubt that came after the request remains. Then the
     * deadline does not move closer, because a wall clock that was set forward must not end a grant that the store keeps.
     *
     * @param surely how much of the lease is sure, where an earlier request may still make it shorter
     */
    Validity moved(Grant newGrant, long sentNanos, Duration surely, long newSlept) {
        long moved = deadline(newGrant.withLease(surely), sentNanos);
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
        return sleptByNow - slept > margin(grant);
    }
}
