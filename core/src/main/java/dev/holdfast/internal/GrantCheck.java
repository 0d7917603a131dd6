package dev.holdfast.internal;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;

/**
 * Whether a grant that has just arrived can be used; a store that is slow, or breaks its contract, gives some that
 * cannot.
 */
final class GrantCheck {
    private GrantCheck() {}

    /** Throws the reason if a grant cannot be used. */
    static void throwIfUnusable(EngineContext context, GrantState grant, ClaimInFlight claim) {
        String store = context.description();
        if (context.isClosed()) {
            throw context.closedException();
        }
        if (grant.hasRunOut()) {
            throw new StoreUnavailableException(
                    store + " took longer to answer than the lease it granted; use a longer lease");
        }
        if (!claim.claim.waits() && grant.hasSlept()) {
            throw new StoreUnavailableException("the machine slept while " + store + " was asked; try again");
        }
        if (!claim.claim.waits() && (claim.isKnownLost() || claim.isInDoubt())) {
            throw new StoreUnavailableException(
                    "the session or connection to " + store + " broke while it was asked; try again");
        }
        throwIfBroken(store, grant, claim.claim.lease());
    }

    private static void throwIfBroken(String store, GrantState grant, Duration asked) {
        Duration lease = grant.grant().lease();
        if (!grant.isSessionBound() && !lease.equals(asked)) {
            throw new StoreRefusedException(store + " gave a lease of " + Durations.text(lease) + " where "
                    + Durations.text(asked) + " was asked for: report this to the authors of the store");
        }
        long number = grant.grant().number();
        if (!Tokens.isNumber(number)) {
            throw new StoreRefusedException(store + " gave the grant number " + number
                    + ", from which no token can be made: its counter was damaged, or set by hand");
        }
    }
}
