package dev.holdfast.jdbc;

import dev.holdfast.Capabilities;
import dev.holdfast.HoldfastException;

/**
 * What is particular to one database: how it is reached, the statements, whose clock counts, how a waiting claim hears
 * that something has changed. Everything else, the order of requests, the walk of a waiting claim, threads, is in
 * {@link SqliteStore}, {@link SqliteWorker} and {@link SqlitePendingClaims}.
 *
 * <p>Thread-safe; what it opens is for one thread.
 */
interface Dialect {

    /** A short name for messages, without secrets. */
    String description();

    /** What the store can do on this database. */
    Capabilities capabilities();

    /**
     * Opens the statements, and creates or checks the layout. May block; leaves nothing open when it fails.
     *
     * @param patience how long a statement may wait for the database
     */
    SqliteLocks open(BusyTimeout patience);

    /** The clock by which grants and turns pass, as near as this process can read it. */
    long nanoTime();

    /** How many grants, or places in queues, one statement may carry. */
    int chunk();

    /** Opens what waiting claims listen to. May block. */
    ChangeSource watch(BusyTimeout patience);

    /** Whether this failure passes by itself, so that a waiting claim outlives it. */
    boolean isPassing(HoldfastException failure);
}
