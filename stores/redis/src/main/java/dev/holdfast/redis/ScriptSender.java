package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sends scripts to the server that keeps their lock: to the only one ({@link ScriptPipeline}), or to a node of a cluster
 * ({@link ClusterSender}). All that is above it knows nothing of servers. Thread-safe.
 */
interface ScriptSender extends AutoCloseable {
    /** Sends a call soon; its answer comes on an event loop. */
    void send(ScriptCall call);

    /** Which part of the store keeps a lock, as {@link dev.holdfast.spi.Store#part}. */
    default String part(String lock) {
        return Store.WHOLE;
    }

    /** Whether calls of one lock are carried out in the order in which they were made. */
    default boolean isOrdered() {
        return true;
    }

    /** How many grants one script renews at most. */
    int renewedTogether();

    /** Runs a task on the thread that sends for a lock, before it next does: calls made by the task leave in one packet. */
    void beforeSending(String lock, Runnable task);

    /** The servers whose keys make up the store, each with a cursor of its own. */
    CompletionStage<List<KeyPages>> keyPages();

    /** Whether the Lettuce client, and with it all connections, was ended by somebody else. */
    boolean isShutDown();

    /** Every call from now on, and all that have no answer yet, fail so. */
    void close(RuntimeException why);

    /** Ends the connections. */
    @Override
    void close();

    /** The keys of one server. */
    interface KeyPages {
        /** One page of them, within the time that any call is given. */
        CompletableFuture<KeyScanCursor<byte[]>> scan(ScanCursor from, ScanArgs args);
    }
}
