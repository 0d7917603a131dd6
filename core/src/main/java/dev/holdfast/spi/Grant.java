package dev.holdfast.spi;

import java.time.Duration;
import java.util.List;

/**
 * The names of a claim, given to a client by a store for a lease.
 *
 * @param id the claim it answers
 * @param names the names held, in the claim's order
 * @param mode how they are held
 * @param lease how long it lives from {@code sentNanos} on if it is not renewed: as long as the claim says, or else the
 *     engine refuses it; for a session-bound store, how long the session lives without a request from the client
 * @param numbers the grant number of each name, in the order of {@code names}: greater than that of every earlier
 *     conflicting grant of that name, and than {@link Claim#floor()}
 * @param sentNanos {@link TimeSource#nanoTime()} read <em>before</em> the request that proves the grant was sent; the
 *     engine counts validity from here. For an offer pushed by the store, the sending of its confirmation
 */
public record Grant(ClaimId id, List<String> names, Mode mode, Duration lease, List<Long> numbers, long sentNanos) {
    public Grant {
        names = List.copyOf(names);
        numbers = List.copyOf(numbers);
        if (names.isEmpty() || names.size() != numbers.size()) {
            throw new IllegalArgumentException("a grant has one number for each of its names");
        }
    }

    /** The grant of a claim, with the lease that was asked for. */
    public static Grant of(Claim claim, List<Long> numbers, long sentNanos) {
        return new Grant(claim.id(), claim.names(), claim.mode(), claim.lease(), numbers, sentNanos);
    }

    /** The first name; the only one of a grant for a single lock. */
    public String name() {
        return names.get(0);
    }

    /** The grant number of {@link #name()}. */
    public long number() {
        return numbers.get(0);
    }

    /** The same grant, to be renewed for another lease. */
    public Grant withLease(Duration newLease) {
        return new Grant(id, names, mode, newLease, numbers, sentNanos);
    }
}
