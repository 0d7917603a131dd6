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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
 *   <li>The first reader of a process that misses acquires the lock of the key, and reads the cache again: the previous
 *       holder has usually filled it. The other readers of the process wait for that one, then read the cache again. So a
 *       key costs the store one claim for each process, whatever the number of its readers.
 *   <li>If the cache still has nothing, the reader loads the value, puts it with the token of its hold, and returns it.
 * </ol>
 *
 * <p>With {@link #servingStale()} all callers but one get a stale value immediately. Only the caller that rebuilds waits,
 * for its own loader. If the store of the locks does not answer, every caller gets the stale value. One reader of a
 * process at a time tries the lock, which takes as long as the store takes to answer, or its time-out for requests.
 *
 * <p>When loading fails: a loader that throws, or returns null ({@link NullPointerException}), fails its own caller; the
 * next reader in the queue loads. A process that dies while it loads is followed by the next reader when its lease has
 * ended. If a loader hangs, the next reader loads after {@link HoldOptions#maxHold} (one minute if no options are given, no
 * limit if the options set none) plus one lease. What the first one puts later has a lower token, and a cache that still
 * keeps the higher one ignores it.
 * A lock that is lost while a value is loaded fails nobody: the value is put if the cache admits its token, and returned.
 *
 * <p>While the source fails, the readers in the queue load one after the other, each with its own failure. Give the loader a
 * short time-out. A loader must not ask for its own key: {@link IllegalStateException}, or, from another thread, a wait
 * until {@code maxHold}.
 *
 * <p>Thread-safe. Make one for a cache and keep it: only its own readers wait for each other without the store.
 *
 * @param <V> the values
 */
public final class SingleFlight<V> {
    private static final Duration LONGEST_LOAD = Duration.ofMinutes(1);
    /** For ever, but a number of nanoseconds. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    private final LockClient client;
    private final String name;
    private final SharedCache<V> cache;
    private final HoldOptions options;
    private final boolean servesStale;
    /** Of the keys that this process rebuilds, or waits to rebuild. */
    private final ConcurrentMap<String, Turn> turns;

    /** A reader of this process that waits for the lock of a key, or loads; the others of the process wait for it. */
    private static final class Turn {
        private final Thread reader = Thread.currentThread();
        private final CountDownLatch over = new CountDownLatch(1);
        private volatile @Nullable StoreUnavailableException outage;

        /** It waited for the lock, and the store did not answer. */
        void failed(StoreUnavailableException failure) {
            outage = failure;
        }

        /** Why it has no lock; empty while it waits, and if it got the lock. */
        Optional<StoreUnavailableException> outage() {
            return Optional.ofNullable(outage);
        }

        /** Waits for its end; false if the time passed. */
        boolean await(long nanos, String lock) throws InterruptedException {
            if (reader.equals(Thread.currentThread())) {
                throw new IllegalStateException("the loader of '" + lock + "' asks for its own key");
            }
            return over.await(nanos, TimeUnit.NANOSECONDS);
        }
    }

    private SingleFlight(
            LockClient client,
            String name,
            SharedCache<V> cache,
            HoldOptions options,
            boolean servesStale,
            ConcurrentMap<String, Turn> turns) {
        this.client = client;
        this.name = name;
        this.cache = cache;
        this.options = options;
        this.servesStale = servesStale;
        this.turns = turns;
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
        return new SingleFlight<>(client, name, cache, options, false, new ConcurrentHashMap<>());
    }

    /**
     * This single flight, but a stale value is returned while another reader rebuilds it. Its locks are never
     * {@linkplain HoldOptions#retain retained}: others would take the client that keeps one for a reader that rebuilds.
     */
    public SingleFlight<V> servingStale() {
        return new SingleFlight<>(client, name, cache, options.retain(Duration.ZERO), true, turns);
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
        return read(key, LONGEST_WAIT, loader).orElseThrow(IllegalStateException::new);
    }

    /**
     * As {@link #get(String, Loader)}, but waits no longer than this for the reader that loads. If this reader loads, the
     * time does not bound its loader.
     *
     * @param wait how long to wait for another reader; not negative
     * @return the value; empty if the time passed and the cache has none to show
     * @throws E what the loader throws; nothing was put
     * @throws IllegalArgumentException if {@code wait} is negative, or {@code name/key} is not a lock's name
     * @throws InterruptedException if the thread is interrupted while it waits for the reader that loads
     */
    public <E extends Exception> Optional<V> get(String key, Duration wait, Loader<V, E> loader)
            throws E, InterruptedException {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("a wait is not negative: " + wait);
        }
        return read(key, wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT, loader);
    }

    private <E extends Exception> Optional<V> read(String key, Duration wait, Loader<V, E> loader)
            throws E, InterruptedException {
        long end = System.nanoTime() + wait.toNanos();
        Optional<StoreUnavailableException> outage = Optional.empty();
        while (true) {
            Optional<Cached<V>> cached = cache.get(key);
            if (isFresh(cached)) {
                return cached.map(Cached::value);
            }
            if (outage.isPresent() && !(servesStale && cached.isPresent())) {
                // The reader before this one waited through it already, for as long as the client rides out an outage.
                StoreUnavailableException same = outage.get();
                throw new StoreUnavailableException(String.valueOf(same.getMessage()), same);
            }
            Turn turn = new Turn();
            Turn other = turns.putIfAbsent(key, turn);
            if (other == null) {
                try {
                    return inTurn(key, cached, end - System.nanoTime(), turn, loader);
                } finally {
                    end(key, turn);
                }
            }
            if (servesStale && cached.isPresent()) {
                return cached.map(Cached::value);
            }
            if (!other.await(end - System.nanoTime(), nameOf(key))) {
                return shown(cache.get(key));
            }
            outage = other.outage();
        }
    }

    /** The one of this process that waits for the lock, or does not where it has a stale value to show. */
    private <E extends Exception> Optional<V> inTurn(
            String key, Optional<Cached<V>> cached, long nanos, Turn turn, Loader<V, E> loader)
            throws E, InterruptedException {
        DistributedLock lock = client.lock(nameOf(key), options);
        Optional<Hold> hold = servesStale && cached.isPresent()
                ? ifNobodyRebuilds(lock)
                : nanos > LONGEST_WAIT.toNanos() / 2
                        ? Optional.of(acquire(lock, turn))
                        : lock.tryAcquire(Duration.ofNanos(Math.max(0, nanos)));
        if (hold.isEmpty()) {
            return servesStale && cached.isPresent() ? cached.map(Cached::value) : shown(cache.get(key));
        }
        hold.get().onLost(loss -> end(key, turn)); // a loader that hangs keeps the others of its process no longer
        return Optional.of(rebuild(hold.get(), key, loader));
    }

    private static Hold acquire(DistributedLock lock, Turn turn) throws InterruptedException {
        try {
            return lock.acquire();
        } catch (StoreUnavailableException outage) {
            turn.failed(outage);
            throw outage;
        }
    }

    private void end(String key, Turn turn) {
        turns.remove(key, turn);
        turn.over.countDown();
    }

    private Optional<V> shown(Optional<Cached<V>> cached) {
        return cached.filter(value -> servesStale || !value.stale()).map(Cached::value);
    }

    private String nameOf(String key) {
        return LockNames.of(name, key);
    }

    private static boolean isFresh(Optional<? extends Cached<?>> cached) {
        return cached.isPresent() && !cached.get().stale();
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
            if (isFresh(filled)) {
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
