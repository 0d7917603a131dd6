package dev.holdfast;

import dev.holdfast.internal.Engine;
import dev.holdfast.internal.LockName;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreFactory;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A connection to a store of locks: the entry point of the library.
 *
 * <pre>{@code
 * try (LockClient client = LockClient.connect("sqlite:locks.db")) {
 *     DistributedLock lock = client.lock("order:42");
 *     try (Hold hold = lock.acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 *
 * <pre>
 *   caller ──► DistributedLock ──► local queue ──► store ──► grant ──► Hold
 *                                  (per name:       (one claim per        │
 *                                  FIFO, hand-over)  client and queue)    ▼
 *                                        ▲                            renewer: renews in batches,
 *                                        └──── the next local waiter ◄─ watches deadlines, reports losses
 * </pre>
 *
 * <p>Make one per process and store, and close it at the end. It runs one timer thread, one listener thread while there
 * are events to report, and what the store needs; none per lock, hold or waiter. Thread-safe.
 */
public final class LockClient implements AutoCloseable {
    private final Engine engine;
    private final Candidacies candidacies = new Candidacies();

    LockClient(Engine engine) {
        this.engine = engine;
    }

    /**
     * Opens the store of a URL with the defaults.
     *
     * @param url {@code sqlite:PATH} for a file on this machine; {@code jdbc:postgresql:…}, {@code jdbc:mariadb:…},
     *     {@code jdbc:mysql:…} or {@code jdbc:h2:…} for a database, {@code redis://HOST:PORT}, {@code zk://HOST:PORT},
     *     {@code etcd://HOST:PORT}, {@code memcached://HOST:PORT};
     *     {@code mem:} or {@code mem:NAME} for this process
     * @throws IllegalArgumentException if no store on the class path knows the URL; the message says what to add
     * @throws HoldfastException if the store cannot be reached or refuses
     */
    @CheckReturnValue
    public static LockClient connect(String url) {
        return builder(url).build();
    }

    /** Prepares a client of the store of a URL. */
    public static LockClientBuilder builder(String url) {
        return new LockClientBuilder(StoreFinder.of(url));
    }

    /**
     * Prepares a client of a store on what the application has already: a pool, a Redis client, a Curator client. The
     * store is opened by {@link LockClientBuilder#build()}, with the client's time and settings.
     *
     * @param store for example {@code RedisStores.on(redisClient)}
     */
    public static LockClientBuilder builder(StoreFactory store) {
        return new LockClientBuilder(store);
    }

    /**
     * Prepares a client of a store that is open; the client closes it. The settings of the store no longer reach it:
     * its time, its password, its session. {@link #builder(StoreFactory)} passes them to a store that is yet to be
     * opened.
     */
    public static LockClientBuilder builder(Store store) {
        return new LockClientBuilder(context -> store).alreadyOpen();
    }

    /**
     * The exclusive lock of a name, with the defaults.
     *
     * @param name 1 to 255 characters, namespace included, none of them a control character
     * @throws IllegalArgumentException if the name is invalid
     * @throws ClientClosedException if the client is closed
     */
    public DistributedLock lock(String name) {
        return lock(name, HoldOptions.defaults());
    }

    /**
     * The exclusive lock of a name; as {@link #lock(String)}.
     *
     * @throws IllegalArgumentException also if the lock is to be {@linkplain HoldOptions#retain(Duration) retained} while
     *     other options contradict that
     * @throws UnsupportedByStoreException if it is to be retained and the store does not
     *     {@linkplain Capabilities#wanted() report} that others wait
     */
    public DistributedLock lock(String name, HoldOptions options) {
        LockName checked = engine.name(name, Mode.EXCLUSIVE);
        checkRetain(checked, options);
        return new DistributedLock(engine, checked, options);
    }

    /**
     * The read-write lock of a name, with the defaults.
     *
     * @param name as for {@link #lock(String)}, whose lock is its writers'
     * @throws IllegalArgumentException if the name is invalid
     * @throws UnsupportedByStoreException if the store has no shared holds
     * @throws ClientClosedException if the client is closed
     */
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, HoldOptions.defaults());
    }

    /**
     * The read-write lock of a name; as {@link #readWriteLock(String)}.
     *
     * @throws IllegalArgumentException also if the options {@linkplain HoldOptions#retain(Duration) retain} it
     */
    public DistributedReadWriteLock readWriteLock(String name, HoldOptions options) {
        engine.name(name, Mode.SHARED); // refused here where the store has none
        refuseRetain("the read-write lock '" + name + "'", options);
        return new DistributedReadWriteLock(engine, engine.name(name, Mode.EXCLUSIVE), options);
    }

    /**
     * The semaphore of a name, with the defaults.
     *
     * @param name as for {@link #lock(String)}
     * @param permits how many there are, at least 1; {@link DistributedSemaphore} describes what applies while clients
     *     disagree
     * @throws IllegalArgumentException if the name is invalid, or {@code permits} is below 1
     * @throws UnsupportedByStoreException if the store has no permits
     * @throws ClientClosedException if the client is closed
     */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, HoldOptions.defaults());
    }

    /**
     * The semaphore of a name; as {@link #semaphore(String, int)}.
     *
     * @throws IllegalArgumentException also if the options are re-entrant, or {@linkplain HoldOptions#retain(Duration)
     *     retain} it
     */
    public DistributedSemaphore semaphore(String name, int permits, HoldOptions options) {
        if (permits < 1) {
            throw new IllegalArgumentException("the semaphore '" + name + "' needs at least 1 permit, not " + permits);
        }
        refuseRetain("permits of the semaphore '" + name + "'", options);
        return new DistributedSemaphore(engine, engine.name(name, new Mode.Permits(1, permits)), permits, options);
    }

    /**
     * A lock of several names at once, with the defaults: all or none.
     *
     * @param names 1 to 100 different names, each as for {@link #lock(String)}; their order does not matter
     * @throws IllegalArgumentException if there are none, too many, one twice, or one that is no name
     * @throws ClientClosedException if the client is closed
     */
    public DistributedMultiLock multiLock(Collection<String> names) {
        return multiLock(names, HoldOptions.defaults());
    }

    /**
     * A lock of several names at once; as {@link #multiLock(Collection)}.
     *
     * @throws IllegalArgumentException also if the options {@linkplain HoldOptions#retain(Duration) retain} it
     */
    public DistributedMultiLock multiLock(Collection<String> names, HoldOptions options) {
        refuseRetain("locks of several names", options);
        return DistributedMultiLock.of(
                engine,
                names.stream().map(name -> engine.name(name, Mode.EXCLUSIVE)).toList(),
                options);
    }

    /**
     * The election of a name, with the defaults.
     *
     * @param name as for {@link #lock(String)}, whose lock the leader holds
     * @throws IllegalArgumentException if the name is invalid
     * @throws ClientClosedException if the client is closed
     */
    public LeaderElection election(String name) {
        return election(name, HoldOptions.defaults());
    }

    /**
     * The election of a name; as {@link #election(String)}. The order of candidates is always that of the store, and
     * no caller waits for the confirmation of a release.
     *
     * @throws IllegalArgumentException also if the options are re-entrant, or {@linkplain HoldOptions#retain(Duration)
     *     retain} the lock
     */
    public LeaderElection election(String name, HoldOptions options) {
        refuseRetain("the lock of the election '" + name + "'", options);
        return new LeaderElection(engine, lock(name, options.strictFifo(true).awaitRelease(false)), candidacies);
    }

    /**
     * Work that one of several servers runs once for a key, which is the name; remembered for 24 hours.
     *
     * @param name as for {@link #lock(String)}, whose lock the running server holds
     * @throws IllegalArgumentException if the name is invalid
     * @throws UnsupportedByStoreException if the store keeps no records
     * @throws ClientClosedException if the client is closed
     */
    public Once once(String name) {
        return once(name, OnceOptions.defaults());
    }

    /** Work that one of several servers runs, in each period or for a key; as {@link #once(String)}. */
    public Once once(String name, OnceOptions options) {
        return new Once(engine, engine.name(name, Mode.EXCLUSIVE), options);
    }

    /**
     * The last runs of work that is run {@linkplain #once(String, OnceOptions) once}, as far as they are kept, sorted by
     * name. A record that cannot be read, of a newer version, is left out, and the log names it.
     *
     * @param pattern which names, as for {@link #list}
     * @throws UnsupportedByStoreException if the store keeps no records
     * @throws HoldfastException if the store does not answer or refuses
     */
    public List<OnceRun> onceRuns(String pattern) {
        return engine.inspection().listRecords(pattern).stream()
                .flatMap(stored -> OnceRecord.read(stored).stream())
                .toList();
    }

    /**
     * The locks that are held or waited for, sorted by name.
     *
     * @param pattern which names: {@code *} matches any characters, {@code ?} one; other characters match themselves
     * @throws HoldfastException if the store does not answer or refuses
     */
    public List<LockStatus> list(String pattern) {
        return engine.inspection().list(pattern);
    }

    /**
     * The waiters, lock by lock and in the order of each queue: one for each client, whatever the number of its
     * threads. Empty where the store does not keep the waiters' names; {@link LockStatus#waiting()} says how many wait
     * on every store.
     *
     * @param pattern which locks, as for {@link #list}
     * @throws HoldfastException if the store does not answer or refuses
     */
    public Optional<List<LockWaiter>> waiters(String pattern) {
        return engine.inspection().waiters(pattern);
    }

    /**
     * Breaks a lock: the grant that was shown, never its successor. Its holder loses it and is notified at its next
     * renewal. The next holder gets the lock when the lease has run out; with {@code now} immediately, while the first
     * may still be at work, unaware: only a resource that checks the token is safe then. Other readers, and other holders
     * of permits, keep what they have.
     *
     * <pre>{@code
     * LockStatus.Held stuck = lock.status().grant().orElseThrow();
     * boolean broken = client.breakGrant("order:42", stuck.token(), false);
     * }</pre>
     *
     * @param name of the lock, without the client's namespace
     * @param token a token of the grant, as {@link LockStatus.Held#token()} shows it
     * @param now whether the next holder gets it immediately
     * @return false if that grant has ended meanwhile; then nothing has changed
     * @throws IllegalArgumentException if the name is invalid, or the token is not positive
     * @throws HoldfastException if the store does not answer or refuses
     */
    public boolean breakGrant(String name, long token, boolean now) {
        if (token <= 0) {
            throw new IllegalArgumentException("a token is positive, not " + token);
        }
        return engine.inspection().breakGrant(name, token, now);
    }

    /**
     * The activity of this client since it was opened, and at present. Costs a few microseconds; may be called at any
     * time.
     */
    public ClientStatistics statistics() {
        return engine.statistics();
    }

    /**
     * Adds a listener for all locks of this client, as {@link LockClientBuilder#listener} does before it is made; nothing if
     * it is one already. It receives what happens from now on.
     */
    public void addListener(LockListener listener) {
        engine.addListener(Objects.requireNonNull(listener, "listener"));
    }

    /** The store as messages and events name it, without secrets: {@code redis://127.0.0.1:6379}. */
    public String store() {
        return engine.storeDescription();
    }

    /** The store's capabilities and promises. Little is known of a store that was not needed yet: a caveat says so. */
    public Capabilities capabilities() {
        return engine.capabilities();
    }

    /**
     * Closes the client's candidacies as {@link Candidacy#close()} does, all together, ends every wait with
     * {@link ClientClosedException}, releases what is still held (reported as lost first), waits up to
     * five seconds for the releases, and closes the store. Closing twice does nothing.
     */
    @Override
    public void close() {
        try {
            candidacies.close();
        } finally {
            engine.close();
        }
    }

    /**
     * Refuses to retain a lock where that cannot be kept.
     *
     * @throws IllegalArgumentException if the other options contradict it
     * @throws UnsupportedByStoreException if the store does not report that a lock is wanted
     */
    private void checkRetain(LockName name, HoldOptions options) {
        if (options.retain().isZero()) {
            return;
        }
        String cannot = "cannot retain '" + name + "'";
        refuse(!options.autoRenew(), cannot, "autoRenew(false): a retained lock is renewed");
        refuse(
                options.strictFifo(),
                cannot,
                "strictFifo(true): a retained lock does not pass through the store's queue");
        refuse(
                options.maxHandOvers() == 0,
                cannot,
                "handOver(0, …): each hold of a retained lock but the first is one");
        refuse(
                options.awaitRelease(),
                cannot,
                "awaitRelease(true): closing a hold of a retained lock releases nothing");
        if (!capabilities().wanted()) {
            throw new UnsupportedByStoreException(cannot + " on " + store()
                    + ": this store does not report when another client waits; leave retain off, or use another store");
        }
    }

    private static void refuse(boolean contradicts, String cannot, String option) {
        if (contradicts) {
            throw new IllegalArgumentException(cannot + " with " + option);
        }
    }

    /** Refuses to retain locks of another kind than single exclusive ones. */
    private static void refuseRetain(String what, HoldOptions options) {
        if (!options.retain().isZero()) {
            throw new IllegalArgumentException(
                    "cannot retain " + what + ": only single exclusive locks are retained; leave retain off");
        }
    }

    @Override
    public String toString() {
        return "LockClient[" + engine.storeDescription() + "]";
    }
}
