package dev.holdfast.internal;

/** The claim or grant that an {@link ExclusiveQueue} has in the store for its waiters. */
enum QueuePhase {
    /** No grant, no claim; a caller that joins the queue in this phase starts a claim. */
    IDLE,
    /** A claim is with the store. */
    CLAIMING,
    /** A hold is open, or lost its grant a moment ago. */
    HELD,
    /** The last hold was closed, and the grant is released when the store sends next unless a caller takes it over. */
    LINGERING,
    /**
     * No caller uses the grant, and it stays here until it is used again, unused for long, or wanted by another client.
     */
    RETAINED,
    /** Between two holds: the store is asked to renew the grant or to give it a fresh number. */
    REFRESHING,
    /** The grant is released, and the next claim must wait until it may follow. */
    RELEASING,
    /** Removed from the registry; a new queue takes its place. */
    RETIRED
}
