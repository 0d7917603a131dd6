package dev.holdfast.redis;

/** The reports of a cluster's nodes and slots to its store. The methods are called on threads that must not block. */
interface ClusterEvents {
    /** A node is connected again. */
    default void connected(NodeAddress node) {}

    /** Slots have other owners: waiting claims must ask there. */
    default void slotsMoved() {}

    /** A node no longer keeps locks. */
    default void retired(NodeAddress node) {}

    /** The Lettuce client was shut down. */
    default void shutDown(RuntimeException why) {}
}
