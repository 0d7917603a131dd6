package dev.holdfast;

import java.time.Duration;

/**
 * An event of the store as a whole that a {@link LockListener} receives: the store stops answering, or answers again. A
 * client notices both by its requests and its waits; a client that sends no request notices nothing.
 */
public sealed interface StoreEvent permits StoreEvent.Unreachable, StoreEvent.Reachable {

    /** The store, without secrets. */
    String store();

    /**
     * The store does not answer. Holds stay valid until their deadlines, and callers wait on: with {@code acquire()} for
     * {@link LockClientBuilder#outageLimit} at most, with a time of their own until that has passed. Then they get a
     * {@link StoreUnavailableException}.
     *
     * @param reason what failed, without secrets
     * @param store the store
     */
    record Unreachable(String reason, String store) implements StoreEvent {}

    /**
     * The store answers again.
     *
     * @param after how long this client had noticed no answer
     * @param store the store
     */
    record Reachable(Duration after, String store) implements StoreEvent {}
}
