package dev.holdfast.redis;

import java.util.concurrent.CompletionStage;

/**
 * How a client hears that a lock was offered to one of its claims: by a channel of its own, which it subscribes to where
 * the lock is kept. The server that offers counts those that listen there. Thread-safe.
 */
interface Offers {
    /** The channel, the same on all servers. */
    String channel();

    /** Whether offers of this lock are heard now. */
    boolean hears(String lock);

    /** Whether they were heard before: then they are again as soon as the connection is back. */
    boolean isOpen(String lock);

    /** Subscribes; completes when offers are heard. A while after a failure the next call tries again. */
    CompletionStage<Void> open(String lock);

    /** The server is the wrong one by now: subscribes again, at whatever its name leads to. */
    void connectAnew();

    /** The Lettuce client was shut down by its owner: an attempt to connect would wait for ever. */
    void giveUp();

    /**
     * Ends it, an attempt to connect included.
     *
     * @param shutDown whether the Lettuce client was shut down by its owner
     */
    void close(boolean shutDown);
}
