package dev.holdfast.recipes;

import java.util.Optional;

/**
 * A cache that several processes share, as the recipes need it: Redis, memcached, a table. Implementations must be
 * thread-safe.
 *
 * <pre>{@code
 * SharedCache<String> pages = new SharedCache<>() {
 *     @Override
 *     public Optional<Cached<String>> get(String key) {
 *         return Optional.ofNullable(redis.hget("page:" + key, "value")).map(Cached::fresh);
 *     }
 *     @Override
 *     public void put(String key, String value, long token) {
 *         redis.eval(PUT_IF_TOKEN_IS_NOT_LOWER, "page:" + key, value, Long.toString(token));
 *     }
 * };
 * }</pre>
 *
 * @param <V> the values
 */
public interface SharedCache<V> {
    /** The cached value of a key; empty if the cache has none that may be shown. */
    Optional<Cached<V>> get(String key);

    /**
     * Keeps a value, unless a value with a higher token was put before.
     *
     * @param token the token of the hold under which the value was loaded. A holder that was stopped for longer than its
     *     lease can put its value late: a cache that compares tokens ignores it, a cache that does not shows it until the
     *     entry expires
     */
    void put(String key, V value, long token);
}
