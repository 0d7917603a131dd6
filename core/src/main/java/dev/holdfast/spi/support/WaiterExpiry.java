package dev.holdfast.spi.support;

import dev.holdfast.spi.Claim;
import java.time.Duration;

/**
 * How long a place in a queue counts unless its client is heard of again: as long as the lease that it asks for, within
 * bounds. So a waiter that died delays those behind it no longer than a holder that died does, also when it wants more
 * than is free. Thread-safe.
 */
public final class WaiterExpiry {
    /** For all leases of ten seconds and more. */
    public static final Duration LONGEST = Duration.ofSeconds(10);

    /** What a live client may need to be heard of on a machine that is busy. */
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

    /** How often a live client is heard of, at least. */
    public static Duration third(Claim claim) {
        return of(claim).dividedBy(3);
    }
}
