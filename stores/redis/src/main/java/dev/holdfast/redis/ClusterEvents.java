package dev.holdfast.redis;

/** What the store of a cluster learns about its nodes and slots. The methods are called on threads that must not block. */
interface ClusterEvents {
    /** A node is connected again. */
    default void connected(NodeAddress node) {}

    /** Slots have other owners: clients that wait must ask there. */
    default void slotsMoved() {}

    /** A node keeps no locks any more. */
    default void retired(NodeAddress node) {}

    /** The Lettuce client was shut down. */
    default void shutDown(RuntimeException why) {}
}
