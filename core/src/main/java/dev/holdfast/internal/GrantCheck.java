package dev.holdfast.internal;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;

/**
 * Whether a grant that has just arrived can be used; a store that is slow, or breaks its contract, gives some that
 * cannot.
 */
final class GrantCheck {
    private GrantCheck() {}

    /** Throws the reason if a grant cannot be used. */
    static void throwIfUnusable(EngineContext context, GrantState grant, ClaimInFlight claim) {
        if (context.isClosed()) {
            throw context.closedException();
        }
        if (grant.hasRunOut()) {
            throw new StoreUnavailableException(
                    context.description() + " took longer to answer than the lease it granted; use a longer lease");
        }
        if (!claim.claim.waits() && grant.hasSlept()) {
            throw new StoreUnavailableException(
                    "the machine slept while " + context.description() + " was asked; try again");
        }
        if (!claim.claim.waits() && (claim.isKnownLost() || claim.isInDoubt())) {
            throw new StoreUnavailableException(
                    "the session or connection to " + context.description() + " broke while it was asked; try again");
        }
        Grant given = grant.grant();
        if (!grant.isSessionBound() && !given.lease().equals(claim.claim.lease())) {
            throw new StoreRefusedException(context.description() + " gave a lease of "
                    + Durations.text(given.lease()) + " where " + Durations.text(claim.claim.lease())
                    + " was asked for: report this to the authors of the store");
        }
        if (!Tokens.isNumber(given.number())) {
            throw new StoreRefusedException(context.description() + " gave the grant number " + given.number()
                    + ", from which no token can be made: its counter was damaged, or set by hand");
        }
    }
}
