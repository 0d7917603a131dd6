package dev.holdfast.recipes;

import java.util.Optional;

/**
 * Where values come from and are changed, usually a database; see {@link ConsistentCache}. Implementations must be
 * thread-safe.
 *
 * @param <V> the values
 */
public interface Source<V> {
    /**
     * Reads a value.
     *
     * @param token of the reader's hold. A source that keeps the highest token of readers, too, can refuse a writer that
     *     was stopped for longer than its lease even if only readers were there meanwhile
     * @return the value, empty if the key has none
     */
    Optional<V> read(String key, long token);

    /**
     * Changes a value.
     *
     * @param token of the writer's hold
     * @throws dev.holdfast.StaleTokenException if a higher token was here before; nothing was changed
     */
    void write(String key, V value, long token);
}
