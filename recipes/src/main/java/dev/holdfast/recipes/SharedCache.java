package dev.holdfast.recipes;

import java.util.Optional;

/**
 * A cache that several processes share, as the recipes need it: Redis, memcached, a table. Implementations must be
 * thread-safe.
 *
 * <pre>{@code
 * SharedCache<String> pages = new SharedCache<>() {
 *     public Optional<Cached<String>> get(String key) {
 *         return Optional.ofNullable(redis.hget("page:" + key, "value")).map(Cached::fresh);
 *     }
 *     public void put(String key, String value, long token) {
 *         redis.eval(PUT_IF_TOKEN_IS_NOT_LOWER, "page:" + key, value, Long.toString(token));
 *     }
 * };
 * }</pre>
 *
 * @param <V> the values
 */
public interface SharedCache<V> {
    /** What the cache has under a key; empty if it has nothing, or nothing that may still be shown. */
    Optional<Cached<V>> get(String key);

    /**
     * Keeps a value, unless a value with a higher token is there.
     *
     * @param token of the hold under which the value was made. A holder that was stopped for longer than its lease may
     *     put its value late: a cache that compares tokens ignores it. A cache that cannot compare shows such a value
     *     until the entry expires
     */
    void put(String key, V value, long token);
}
