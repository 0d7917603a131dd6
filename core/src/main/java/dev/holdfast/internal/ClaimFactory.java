package dev.holdfast.internal;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Makes the claims of a client: each has an id of its own, describes the claimant, and names the highest grant number
 * that this client has seen, which the number of any later grant must be above. Thread-safe.
 */
final class ClaimFactory {
    private final Supplier<ClaimId> ids;
    private final ClientIdentity identity;
    private final AtomicLong highestNumber = new AtomicLong();

    ClaimFactory(Supplier<ClaimId> ids, ClientIdentity identity) {
        this.ids = ids;
        this.identity = identity;
    }

    Claim claimFor(LockName name, Waiter asker) {
        Thread thread = asker.thread;
        String who = thread == null ? "async" : thread.getName();
        return new Claim(
                ids.get(),
                name.inStore(),
                asker.mode,
                asker.options.lease(),
                asker.waits,
                highestNumber.get(),
                identity.holder(who));
    }

    /** A grant number that any later one of this client must be above. */
    void saw(long number) {
        if (Tokens.isNumber(number)) {
            highestNumber.accumulateAndGet(number, Math::max);
        }
    }
}
