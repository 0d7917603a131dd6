package dev.holdfast.tck.fuzz;

import dev.holdfast.spi.Mode;

/**
 * A holder.
 *
 * @param claim its label; negative when it was revoked, and keeps others out until its lease is over
 * @param from its lease does not end before
 * @param to it has surely ended after
 * @param by the unanswered request that its end depends on, or -1
 * @param least {@code to} is not before, whatever that answer
 */
record Held(int claim, Mode mode, long from, long to, int by, long least) {
    boolean isBroken() {
        return claim < 0;
    }

    /** One whose session would never end keeps others out for a session's time only. */
    Held broken(long now) {
        return isBroken() ? this : new Held(-claim - 1, mode, from == Call.NEVER ? now : from, to, by, least);
    }

    /** That moment, if it is later than the one known so far; what is broken ends, though its session does not. */
    long endsNotBefore(long moment) {
        return isBroken() && moment == Call.NEVER ? from : Math.max(from, moment);
    }
}
