package dev.holdfast.redis;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * The ways in which a {@link ScriptPipeline} ends, and what its callers receive then: it is closed with its store,
 * retired because its server no longer keeps locks, or its Lettuce client was shut down by the owner. Thread-safe.
 */
final class PipelineEnd {
    private final LettuceConnection connection;
    private final RedisErrors errors;
    private volatile boolean retired;
    private volatile @Nullable RuntimeException closed;

    PipelineEnd(LettuceConnection connection, RedisErrors errors) {
        this.connection = connection;
        this.errors = errors;
    }

    void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    void close(RuntimeException why) {
        closed = why;
    }

    /** Why it was closed; null if it was not. */
    @Nullable
    RuntimeException closed() {
        return closed;
    }

    /** Whether nothing can be asked any more. */
    boolean hasCome() {
        return closed != null || retired || connection.isShutDown();
    }

    /** The failure for a caller that asks after the end. */
    RuntimeException why() {
        return retired && closed == null
                ? new StoreUnavailableException(errors.store() + " has changed its servers; try again")
                : shutDown();
    }

    /** The failure of a call that is ended by a close or by the owner of the Lettuce client. */
    RuntimeException shutDown() {
        RuntimeException end = closed;
        return end != null
                ? end
                : new StoreRefusedException(
                        errors.store() + " cannot be reached any more: its RedisClient was shut down; make a new one");
    }
}
