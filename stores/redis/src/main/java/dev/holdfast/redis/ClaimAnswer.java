package dev.holdfast.redis;

import dev.holdfast.spi.Grant;
import java.util.Optional;

/**
 * The answer of the server to a claim.
 *
 * @param grant the grant, or nothing
 * @param leftMillis how long until something ends that this claim is to poll for: the lease or offer in its way, or the
 *     life of the first waiter, which does not fit; negative if there is nothing
 * @param rank how many claims wait before this one
 * @param place the place of this claim in the queue; empty if it does not wait there
 * @param missed whether it had a place and was passed over: an offer did not reach it
 */
record ClaimAnswer(Optional<Grant> grant, long leftMillis, long rank, String place, boolean missed) {
    static ClaimAnswer granted(Grant grant) {
        return new ClaimAnswer(Optional.of(grant), 0, 0, "", false);
    }

    /** From {@code -LEFT RANK PLACE MISSED}, or a bare {@code -} if no place was asked for. */
    static ClaimAnswer notYet(String text) {
        String[] parts = text.substring(1).split(" ");
        return parts.length < 4
                ? new ClaimAnswer(Optional.empty(), 0, 0, "", false)
                : new ClaimAnswer(
                        Optional.empty(),
                        Long.parseLong(parts[0]),
                        Long.parseLong(parts[1]),
                        parts[2],
                        parts[3].equals("1"));
    }
}
