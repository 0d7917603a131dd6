package dev.holdfast.recipes;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import java.util.Optional;

/**
 * A cache that never shows a value older than the last completed change of its source: reads go through the cache under
 * the read hold of a key, changes under its write hold.
 *
 * <pre>{@code
 * ConsistentCache<Price> prices = ConsistentCache.of(client, "price", cache, table);
 * Optional<Price> price = prices.get("42");
 * prices.put("42", price.orElseThrow().raisedBy(10));
 * }</pre>
 *
 * <p>The well-known error of a cache beside a database: a reader misses, reads 100 from the database, and is slow; a
 * writer changes the database to 200 and clears the cache; then the reader puts 100, which stays. Here the writer waits
 * until the reader has put its value, and clears that. A reader that was stopped for longer than its lease is late all
 * the same; its token is lower than the writer's, and the cache ignores its value. A writer that is late has a lower token
 * than the readers and writers after it, and the source refuses it; for that the source records readers' tokens, too
 * ({@link Source#read}).
 *
 * <p>A change clears the cache first, then writes the source, then puts the new value. A writer that dies on the way
 * leaves an empty cache, never an old value.
 *
 * <p>A hit takes no lock: it shows what was in the source when it was put, and a change that completes meanwhile is seen
 * by the next {@code get}. Readers that miss at the same time may each read the source; see {@link SingleFlight}.
 *
 * <p>Immutable and thread-safe.
 *
 * @param <V> the values
 */
public final class ConsistentCache<V> {
    private final LockClient client;
    private final String name;
    private final ClearableCache<V> cache;
    private final Source<V> source;
    private final HoldOptions options;

    private ConsistentCache(
            LockClient client, String name, ClearableCache<V> cache, Source<V> source, HoldOptions options) {
        this.client = client;
        this.name = name;
        this.cache = cache;
        this.source = source;
        this.options = options;
    }

    /**
     * A cache before a source.
     *
     * @param name the prefix of the lock names: the lock of a key is {@code name/key}. With the client's namespace, a lock name
     *     has at most 255 characters and no control character
     */
    public static <V> ConsistentCache<V> of(LockClient client, String name, ClearableCache<V> cache, Source<V> source) {
        return of(client, name, cache, source, HoldOptions.defaults());
    }

    /** As {@link #of(LockClient, String, ClearableCache, Source)}, with options for the holds. */
    public static <V> ConsistentCache<V> of(
            LockClient client, String name, ClearableCache<V> cache, Source<V> source, HoldOptions options) {
        return new ConsistentCache<>(client, name, cache, source, options);
    }

    /**
     * The value of a key: from the cache, or read from the source and put into the cache. An absent value is not cached.
     *
     * @throws InterruptedException if the thread is interrupted while it waits for a writer
     * @throws dev.holdfast.HoldfastException as {@link DistributedLock#acquire()}, only where a lock is needed: never
     *     for a hit. Exceptions of the cache and of the source are passed on
     * @throws IllegalArgumentException if {@code name/key} is not a lock's name
     */
    public Optional<V> get(String key) throws InterruptedException {
        Optional<Cached<V>> cached = cache.get(key);
        if (cached.isPresent()) {
            return cached.map(Cached::value);
        }
        Hold reading = lock(key).read().acquire();
        try (FencedWork work = new FencedWork(reading)) {
            Optional<V> value = source.read(key, reading.token());
            value.ifPresent(found -> cache.put(key, found, reading.token()));
            return value;
        }
    }

    /**
     * Changes the value of a key in the source, and in the cache. When this returns, every later {@link #get} shows this
     * value or a later one.
     *
     * @throws dev.holdfast.StaleTokenException if this thread was stopped for longer than its lease, and another was
     *     faster; nothing was changed
     * @throws InterruptedException if the thread is interrupted while it waits for readers or a writer
     * @throws dev.holdfast.HoldfastException as {@link DistributedLock#acquire()}. Exceptions of the cache and of the source
     *     are passed on; if the last step fails, the source has changed, and the cache has no value
     * @throws IllegalArgumentException if {@code name/key} is not a lock's name
     */
    public void put(String key, V value) throws InterruptedException {
        Hold writing = lock(key).write().acquire();
        try (FencedWork work = new FencedWork(writing)) {
            cache.clear(key, writing.token());
            source.write(key, value, writing.token());
            cache.put(key, value, writing.token());
        }
    }

    private DistributedReadWriteLock lock(String key) {
        return client.readWriteLock(LockNames.of(name, key), options);
    }

    @Override
    public String toString() {
        return "ConsistentCache[" + name + "]";
    }
}
