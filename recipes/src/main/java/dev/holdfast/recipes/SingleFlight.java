package dev.holdfast.recipes;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * One rebuild of a hot cache entry at a time: when the entry expires, one reader of one process loads the value, and all
 * others wait for it and read what was loaded. Without this, every reader that misses loads the value itself, and the
 * source gets all of them at once (a cache stampede).
 *
 * <pre>{@code
 * SingleFlight<Article> articles = SingleFlight.of(client, "article", cache);
 * Article article = articles.get("42", id -> database.article(id));
 * }</pre>
 *
 * <p>How it works:
 *
 * <ol>
 *   <li>A hit is returned; it takes no lock.
 *   <li>A reader that misses acquires the lock of the key, and reads the cache again: whoever had the lock before has
 *       usually filled it.
 *   <li>If the cache still has nothing, the reader loads the value, puts it with the token of its hold, and returns it.
 * </ol>
 *
 * <p>With {@link #servingStale()} a stale value is returned immediately while one reader rebuilds it: nobody waits as
 * long as the cache keeps the old value. If the store of the locks does not answer, the stale value is returned, too.
 *
 * <p>When loading fails: a loader that throws, or returns null ({@link NullPointerException}), fails its own caller; the
 * next reader in the queue loads. A process that dies while it loads is followed by the next reader when its lease has
 * ended. A loader that hangs keeps the lock until {@link HoldOptions#maxHold} (one minute unless set) plus its lease;
 * then the next reader loads, and a value that the first one puts later has a lower token, so that the cache ignores it.
 * A lock that is lost while a value is loaded fails nobody: the value is put if the cache admits its token, and returned.
 *
 * <p>Immutable and thread-safe.
 *
 * @param <V> the values
 */
public final class SingleFlight<V> {
    private static final Duration LONGEST_LOAD = Duration.ofMinutes(1);

    private final LockClient client;
    private final String name;
    private final SharedCache<V> cache;
    private final HoldOptions options;
    private final boolean servesStale;

    private SingleFlight(
            LockClient client, String name, SharedCache<V> cache, HoldOptions options, boolean servesStale) {
        this.client = client;
        this.name = name;
        this.cache = cache;
        this.options = options;
        this.servesStale = servesStale;
    }

    /**
     * A single flight for each key of a cache.
     *
     * @param name what the locks' names begin with: the lock of a key is {@code name/key}, at most 255 characters
     */
    public static <V> SingleFlight<V> of(LockClient client, String name, SharedCache<V> cache) {
        return of(client, name, cache, HoldOptions.defaults().maxHold(LONGEST_LOAD));
    }

    /**
     * The same, with options of its own.
     *
     * @param options of the holds; {@link HoldOptions#maxHold} bounds how long a loader that hangs keeps the others waiting
     */
    public static <V> SingleFlight<V> of(LockClient client, String name, SharedCache<V> cache, HoldOptions options) {
        return new SingleFlight<>(client, name, cache, options, false);
    }

    /** The same, but a stale value is returned while another reader rebuilds it. */
    public SingleFlight<V> servingStale() {
        return new SingleFlight<>(client, name, cache, options, true);
    }

    /**
     * The value of a key: from the cache, or loaded by this caller or by another.
     *
     * @throws E what the loader throws; nothing was put
     * @throws InterruptedException if the thread is interrupted while it waits for the reader that loads
     * @throws dev.holdfast.HoldfastException as {@link DistributedLock#acquire()}, only where a lock is needed: never for a hit
     */
    public <E extends Exception> V get(String key, Loader<V, E> loader) throws E, InterruptedException {
        Optional<Cached<V>> cached = cache.get(key);
        if (cached.isPresent() && !cached.get().stale()) {
            return cached.get().value();
        }
        DistributedLock lock = client.lock(name + "/" + key, options);
        if (cached.isPresent() && servesStale) {
            Optional<Hold> rebuild = ifNobodyRebuilds(lock);
            return rebuild.isPresent()
                    ? rebuild(rebuild.get(), key, loader)
                    : cached.get().value();
        }
        return rebuild(lock.acquire(), key, loader);
    }

    /** Empty also in an outage of the locks: a stale value is there to be served in just such a case. */
    private static Optional<Hold> ifNobodyRebuilds(DistributedLock lock) {
        try {
            return lock.tryAcquire();
        } catch (StoreUnavailableException outage) {
            return Optional.empty();
        }
    }

    private <E extends Exception> V rebuild(Hold hold, String key, Loader<V, E> loader) throws E {
        try (FencedWork work = new FencedWork(hold)) {
            Optional<Cached<V>> filled = cache.get(key);
            if (filled.isPresent() && !filled.get().stale()) {
                return filled.get().value();
            }
            V value = Objects.requireNonNull(
                    loader.load(key), () -> "the loader of '" + hold.name() + "' returned null; nothing was put");
            cache.put(key, value, hold.token());
            return value;
        }
    }

    @Override
    public String toString() {
        return "SingleFlight[" + name + "]";
    }
}
