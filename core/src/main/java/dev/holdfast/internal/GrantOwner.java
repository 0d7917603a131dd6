package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The owner of a grant: the queue whose callers hold by it, with the services that the grant and its holds need.
 * Thread-safe.
 */
interface GrantOwner {
    LockName name();

    HoldContext context();

    /** Does something short with each open hold under a grant; under no mutex, so that it may end meanwhile. */
    void forEachHoldOf(GrantState of, Consumer<HoldState> action);

    /** Does something short with each open hold under a grant, while it cannot end. */
    void withHoldsOf(GrantState of, Consumer<HoldState> action);

    /**
     * Stops renewing for this hold, provided that it is still open; false if not, or if that was decided before. The
     * grant runs out unless others hold by it.
     */
    boolean stopRenewal(HoldState of, Loss.Cause cause);

    /** The store confirmed a grant, which may have been in doubt. */
    void confirmed(GrantState grant);

    /** Other clients wait for a grant's name, as the store reports. */
    void wanted(GrantState grant);

    /** Throws unless a holder can be notified that others wait. */
    void checkReportsWanted();

    /** A holder asks to be notified when others wait. */
    void watch(HoldState hold);

    /** The renewer found that a grant has ended. */
    void grantLost(GrantState lost, Loss.Cause cause);

    /** Makes an exclusive hold a shared one, in place; false if it is not open and surely held. */
    boolean downgrade(HoldState hold);

    /**
     * Closes a hold, or one entry of a re-entrant one.
     *
     * @param as which kind of entry; the last exclusive one closed before the last shared one leaves a reader
     */
    void close(HoldState closing, LockMode as);

    /** Closes a hold that has no entry any more, on the client's timer, which waits for nothing. */
    void closeUnawaited(HoldState closing);

    /**
     * Ends a hold, and hands its grant on or releases it.
     * A grant that the renewer has found lost by now makes the hold lost, even where its {@link #grantLost} is only on
     * its way.
     *
     * @param givenBack is completed with true if the grant is released, with false if not; null if nobody waits for the answer
     */
    void endHold(HoldState closing, @Nullable CompletableFuture<Boolean> givenBack);

    /** Closes a hold that no caller received: waits for nothing, and reports no loss. */
    void giveBack(HoldState unwanted);

    /** A lost hold that no code can close any more leaves nothing behind. */
    void forgetIfDropped(HoldState held);
}
