package dev.holdfast.redis;

import java.util.concurrent.CompletionStage;

/**
 * The offers of locks to the claims of one client. The client has its own channel, and subscribes to it at the server
 * that keeps the lock; the server that offers counts the subscribers there. Thread-safe.
 */
interface Offers {
    /** The channel, the same on all servers, without {@link RedisStore#CHANNELS} before it. */
    String channel();

    /** Whether this client receives offers of this lock now. */
    boolean isSubscribed(String lock);

    /** Whether it received them before: then it does again as soon as the connection is back. */
    boolean wasSubscribed(String lock);

    /** Subscribes; completes when offers are received. A while after a failure the next call tries again. */
    CompletionStage<Void> subscribe(String lock);

    /** The server is the wrong one by now: subscribes again, at the server that its name leads to. */
    void reconnect();

    /** The Lettuce client was shut down by its owner: an attempt to connect would wait for ever. */
    void giveUp();

    /**
     * Ends the subscription, an attempt to connect included.
     *
     * @param shutDown whether the Lettuce client was shut down by its owner
     */
    void close(boolean shutDown);
}
