package dev.holdfast.recipes;

import java.util.Optional;

/**
 * The source of cached values, usually a database; see {@link ConsistentCache}. Implementations must be thread-safe.
 *
 * @param <V> the values
 */
public interface Source<V> {
    /**
     * Records the token if it is the highest so far, then reads a value: in this order, or in one transaction. Otherwise
     * a writer that was stopped for longer than its lease can change the source behind a reader that has filled the cache,
     * and the cache keeps the old value. A reader's token is never refused.
     *
     * @param token the token of the reader's hold
     * @return the value, empty if the key has none
     */
    Optional<V> read(String key, long token);

    /**
     * Changes a value.
     *
     * @param token the token of the writer's hold
     * @throws dev.holdfast.StaleTokenException if a writer or a reader with a higher token came before; nothing was
     *     changed
     */
    void write(String key, V value, long token);
}
