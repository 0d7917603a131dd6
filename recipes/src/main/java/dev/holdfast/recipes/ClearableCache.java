package dev.holdfast.recipes;

/**
 * A cache that forgets a value when its source is about to change; see {@link ConsistentCache}.
 *
 * @param <V> the values
 */
public interface ClearableCache<V> extends SharedCache<V> {
    /**
     * Forgets the value of a key, and remembers the token: from now on {@link #put} ignores values with a lower one. Does
     * nothing if a higher token was seen before.
     *
     * @param token of the writer's hold. A cache that forgets tokens (when an entry expires or is evicted) admits the
     *     value of a reader that was stopped for longer than its lease; keep entries of this kind longer than readers can
     *     be late, or let values expire soon
     */
    void clear(String key, long token);
}
