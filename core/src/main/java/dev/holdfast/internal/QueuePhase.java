package dev.holdfast.internal;

/** What an {@link ExclusiveQueue} has in the store for those who wait in it. */
enum QueuePhase {
    /** No grant, no claim; whoever queues up in this phase starts a claim. */
    IDLE,
    /** A claim is with the store. */
    CLAIMING,
    /** A hold is open, or lost its grant a moment ago. */
    HELD,
    /** The last hold was closed, and the grant goes back when the store sends next unless somebody takes it over. */
    LINGERING,
    /** Nobody uses the grant, and it stays here until it is used again, unused for long, or wanted by another client. */
    RETAINED,
    /** Between two holds: the store is asked to renew the grant or to give it a fresh number. */
    REFRESHING,
    /** The grant goes back, and the next claim must wait until it may follow. */
    RELEASING,
    /** Forgotten by the registry; a new one takes its place. */
    RETIRED
}
