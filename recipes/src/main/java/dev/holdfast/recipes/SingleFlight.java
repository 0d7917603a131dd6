package dev.holdfast.recipes;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Rebuilds a hot cache entry once. When the entry expires, one reader of one process loads the value. All other readers
 * wait, then read what was loaded. Otherwise every reader that misses loads the value itself, and the source serves all of
 * them at the same time (a cache stampede).
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
 *   <li>A reader that misses acquires the lock of the key, and reads the cache again: the previous holder has
 *       usually filled it.
 *   <li>If the cache still has nothing, the reader loads the value, puts it with the token of its hold, and returns it.
 * </ol>
 *
 * <p>With {@link #servingStale()} all callers but one get a stale value immediately. Only the caller that rebuilds waits,
 * for its own loader. If the store of the locks does not answer, every caller gets the stale value. Each stale read is one
 * try of the lock, so it takes as long as the store takes to answer, or its time-out for requests.
 *
 * <p>When loading fails: a loader that throws, or returns null ({@link NullPointerException}), fails its own caller; the
 * next reader in the queue loads. A process that dies while it loads is followed by the next reader when its lease has
 * ended. If a loader hangs, the next reader loads after {@link HoldOptions#maxHold} (one minute if no options are given, no
 * limit if the options set none) plus one lease. What the first one puts later has a lower token, and a cache that still
 * keeps the higher one ignores it.
 * A lock that is lost while a value is loaded fails nobody: the value is put if the cache admits its token, and returned.
 *
 * <p>While the source fails, the readers in the queue load one after the other, each with its own failure. Give the loader a
 * short time-out. A loader must not ask for its own key: it waits for itself until {@code maxHold}.
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
     * @param name the prefix of the lock names: the lock of a key is {@code name/key}. With the client's namespace, a lock name
     *     has at most 255 characters and no control character
     */
    public static <V> SingleFlight<V> of(LockClient client, String name, SharedCache<V> cache) {
        return of(client, name, cache, HoldOptions.defaults().maxHold(LONGEST_LOAD));
    }

    /**
     * As {@link #of(LockClient, String, SharedCache)}, with options for the holds.
     *
     * @param options of the holds; without {@link HoldOptions#maxHold}, a loader that hangs keeps the others waiting until it
     *     ends
     */
    public static <V> SingleFlight<V> of(LockClient client, String name, SharedCache<V> cache, HoldOptions options) {
        return new SingleFlight<>(client, name, cache, options, false);
    }

    /** This single flight, but a stale value is returned while another reader rebuilds it. */
    public SingleFlight<V> servingStale() {
        return new SingleFlight<>(client, name, cache, options, true);
    }

    /**
     * The value of a key: from the cache, or loaded by this caller or by another.
     *
     * @throws E what the loader throws; nothing was put. Exceptions of the cache are passed on
     * @throws NullPointerException if the loader returns null; nothing was put
     * @throws IllegalArgumentException if {@code name/key} is not a lock's name
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
        } catch (StoreUnavailableException | StoreRefusedException withoutLocks) {
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
