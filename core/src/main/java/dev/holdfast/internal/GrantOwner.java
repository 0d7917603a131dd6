package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Whose a grant is: the queue whose callers hold by it. What a grant and its holds ask of it. Thread-safe. */
interface GrantOwner {
    LockName name();

    HoldContext context();

    /** Does something short with each open hold under a grant; under no mutex, so that it may end meanwhile. */
    void forEachHoldOf(GrantState of, Consumer<HoldState> action);

    /** Does something short with each open hold under a grant, while it cannot end. */
    void withHoldsOf(GrantState of, Consumer<HoldState> action);

    /**
     * Renews for this hold no more, provided that it is still open; false if not, or if that was decided before. The
     * grant runs out unless others hold by it.
     */
    boolean stopRenewal(HoldState of, Loss.Cause cause);

    /** The store confirmed a grant, which may have been in doubt. */
    void confirmed(GrantState standing);

    /** Other clients wait for a grant's name, as the store reports. */
    void wanted(GrantState grant);

    /** Throws unless a holder can hear that others wait. */
    void checkReportsWanted();

    /** A holder wants to hear that others wait. */
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

    /**
     * Ends a hold, and hands its grant on or gives it back; completes with whether it was given back, once that is
     * decided. A grant that the renewer has found lost by now makes the hold lost, even where its {@link #grantLost} is
     * only on its way.
     */
    CompletableFuture<Boolean> endHold(HoldState closing);

    /** Closes a hold that nobody had in hand: waits for nothing, and a loss is nobody's. */
    void giveBack(HoldState unwanted);

    /** A lost hold that nobody can close any more leaves nothing of it behind. */
    void forgetIfDropped(HoldState held);
}
