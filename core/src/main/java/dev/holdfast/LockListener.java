package dev.holdfast;

/**
 * Receives the events of the locks of a client. Every method may be left out; each gets one small record;
 * {@link LockEvent} shows their order, and {@link StoreEvent} is about the store as a whole.
 *
 * <p>Calls come one after another on the client's listener thread, never on the caller's, and for one lock in the order
 * in which things happened. A listener that is slow delays other listeners, never a lock. A listener that throws is
 * logged, and the others go on. When more than 10,000 events wait for listeners, further ones are dropped, counted in
 * {@link ClientStatistics#droppedEvents()} and logged once; losses are never dropped.
 *
 * <pre>{@code
 * LockClient client = LockClient.builder("sqlite:locks.db")
 *         .listener(new LockListener() {
 *             @Override
 *             public void onLost(Loss loss) {
 *                 alerts.send(loss.message());
 *             }
 *         })
 *         .build();
 * }</pre>
 *
 * <p>For figures alone no listener is needed: {@link LockClient#statistics()}.
 */
public interface LockListener {

    /** A caller asked for a lock and is prepared to wait; it may have it a moment later. */
    default void onWaiting(LockEvent.Waiting event) {}

    /** A call ended without the lock: it was taken, the time passed, the thread was interrupted, the store failed. */
    default void onNotAcquired(LockEvent.NotAcquired event) {}

    /** A hold began, by a grant of the store or by hand-over from another hold of this client. */
    default void onAcquired(LockEvent.Acquired event) {}

    /** A hold was closed by its holder. */
    default void onReleased(LockEvent.Released event) {}

    /** The store extended the lease of a hold. */
    default void onRenewed(LockEvent.Renewed event) {}

    /** A renewal got no answer; it is tried again while the hold is valid. */
    default void onRenewalFailed(LockEvent.RenewalFailed event) {}

    /** A hold is in doubt, and not valid until the store has confirmed it. */
    default void onSuspect(LockEvent.Suspect event) {}

    /** A hold was never closed, and no code can close it any more; it is no longer renewed. */
    default void onLeaked(LockEvent.Leaked event) {}

    /** A hold ended otherwise than by its own close. */
    default void onLost(Loss loss) {}

    /** The store did not confirm a release; the lock is free when its lease or session has ended at the latest. */
    default void onReleaseFailed(LockEvent.ReleaseFailed event) {}

    /** The store does not answer this client; reported once, until {@link #onStoreReachable}. */
    default void onStoreUnreachable(StoreEvent.Unreachable event) {}

    /** The store answers again. */
    default void onStoreReachable(StoreEvent.Reachable event) {}
}
