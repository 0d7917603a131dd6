package dev.holdfast.spi.support;

import dev.holdfast.spi.Claim;
import java.time.Duration;

/**
 * The time after which a waiter's place in a queue expires unless its client renews it: the lease that the claim asks
 * for, within bounds. So a dead waiter delays the waiters behind it no longer than a dead holder does, also when it
 * wants more permits than are free. Thread-safe.
 */
public final class WaiterExpiry {
    /** For all leases of ten seconds and more. */
    public static final Duration LONGEST = Duration.ofSeconds(10);

    /** The time that a live client on a busy machine may need to renew its place. */
    public static final Duration SHORTEST = Duration.ofMillis(1_500);

    private WaiterExpiry() {}

    /** For the place of a claim. */
    public static Duration of(Claim claim) {
        Duration lease = claim.lease();
        if (lease.compareTo(LONGEST) >= 0) {
            return LONGEST;
        }
        return lease.compareTo(SHORTEST) <= 0 ? SHORTEST : lease;
    }

    /** How often a live client renews its place, at least. */
    public static Duration third(Claim claim) {
        return of(claim).dividedBy(3);
    }
}
