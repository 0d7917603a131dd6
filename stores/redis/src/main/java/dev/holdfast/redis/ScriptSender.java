package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sends scripts to the server that keeps their lock: to the only one ({@link ScriptPipeline}), or to a node of a
 * cluster ({@link ClusterSender}). No class above it knows of servers. Thread-safe.
 */
interface ScriptSender extends AutoCloseable {
    /** Sends a call soon; it is answered on an event loop. */
    void send(ScriptCall call);

    /** The same, for its answer; failures as they are, not wrapped. */
    default CompletableFuture<ScriptCall.Answer> ask(ScriptCall call) {
        CompletableFuture<ScriptCall.Answer> answer = new CompletableFuture<>();
        call.tell((said, failure) -> {
            if (failure == null) {
                answer.complete(said);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        send(call);
        return answer;
    }

    /** The part of the store that keeps a lock, as in {@link dev.holdfast.spi.Store#part}. */
    default String part(String lock) {
        return Store.WHOLE;
    }

    /** Whether calls of one lock are carried out in the order in which they were made. */
    default boolean isOrdered() {
        return true;
    }

    /** How many grants one script renews at most. */
    int renewedTogether();

    /**
     * Runs a task on the thread that sends for a lock, before it next does: calls made by the task leave in one packet.
     */
    void beforeSending(String lock, Runnable task);

    /** The servers whose keys make up the store, each with a cursor of its own. */
    CompletionStage<List<KeyPages>> keyPages();

    /** Whether the owner of the Lettuce client ended it, and with it all connections. */
    boolean isShutDown();

    /** From now on every call fails with this, and so do all that have no answer yet. */
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
