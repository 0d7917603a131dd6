package dev.holdfast.recipes;

/**
 * A cache that forgets a value when its source is about to change; see {@link ConsistentCache}.
 *
 * @param <V> the values
 */
public interface ClearableCache<V> extends SharedCache<V> {
    /**
     * Forgets the value of a key, and keeps the token: from now on {@link #put} ignores values with a lower one. Does
     * nothing if a higher token was seen before.
     *
     * <p>Keep the token of a key longer than a reader can be late. Independently, give each value an expiry of a few
     * minutes: if the token was evicted, an old value that a late reader puts ends by itself.
     *
     * @param token the token of the writer's hold
     */
    void clear(String key, long token);
}
