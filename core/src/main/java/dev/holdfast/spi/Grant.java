package dev.holdfast.spi;

import java.time.Duration;

/**
 * The name of a claim, given to a client by a store for a lease.
 *
 * @param id the claim it answers
 * @param name the name held
 * @param mode how it is held
 * @param lease how long it lives from {@code sentNanos} on if it is not renewed: as long as the claim says, or else the
 *     engine refuses it; for a session-bound store, how long the session lives without a request from the client
 * @param number the grant number: greater than that of every earlier conflicting grant of that name, and than
 *     {@link Claim#floor()}
 * @param sentNanos {@link TimeSource#nanoTime()} read <em>before</em> the request that proves the grant was sent; the
 *     engine counts validity from here. For an offer pushed by the store, the sending of its confirmation
 */
public record Grant(ClaimId id, String name, Mode mode, Duration lease, long number, long sentNanos) {
    /** The grant of a claim, with the lease that was asked for. */
    public static Grant of(Claim claim, long number, long sentNanos) {
        return new Grant(claim.id(), claim.name(), claim.mode(), claim.lease(), number, sentNanos);
    }

    /** The same grant, to be renewed for another lease. */
    public Grant withLease(Duration newLease) {
        return newLease.equals(lease) ? this : new Grant(id, name, mode, newLease, number, sentNanos);
    }
}
