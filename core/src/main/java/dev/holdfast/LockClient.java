package dev.holdfast;

import dev.holdfast.internal.Durations;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.Environment;
import dev.holdfast.internal.Names;
import dev.holdfast.internal.StoreFinder;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a store of locks: the front door.
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
 *                                        └──── the next local waiter ◄─ watches deadlines, tells losses
 * </pre>
 *
 * <p>Make one per process and store, and close it at the end. It runs one timer thread, one listener thread while there
 * is something to tell, and what the store needs; none per lock, hold or waiter. Thread-safe.
 */
public final class LockClient implements AutoCloseable {
    private final Engine engine;
    private final Candidacies candidacies = new Candidacies();

    private LockClient(Engine engine) {
        this.engine = engine;
    }

    /**
     * Opens the store of a URL with the defaults.
     *
     * @param url {@code sqlite:PATH} for a file on this machine; {@code jdbc:postgresql:…}, {@code jdbc:mariadb:…},
     *     {@code jdbc:mysql:…} or {@code jdbc:h2:…} for a database, {@code redis://HOST:PORT}, {@code zk://HOST:PORT};
     *     {@code mem:} or {@code mem:NAME} for this process
     * @throws IllegalArgumentException if no store on the class path knows the URL; the message says what to add
     * @throws HoldfastException if the store cannot be reached or refuses
     */
    @CheckReturnValue
    public static LockClient connect(String url) {
        return builder(url).build();
    }

    /** Prepares a client of the store of a URL. */
    public static Builder builder(String url) {
        return new Builder(context -> StoreFinder.open(url, context));
    }

    /**
     * Prepares a client of a store on what the application has already: a pool, a Redis client, a Curator client. The
     * store is opened by {@link Builder#build()}, with the client's time and settings.
     *
     * @param store for example {@code RedisStores.on(redisClient)}
     */
    public static Builder builder(StoreFactory store) {
        return new Builder(store);
    }

    /** Prepares a client of a store that is open; the client closes it. */
    public static Builder builder(Store store) {
        return new Builder(context -> store);
    }

    /**
     * The exclusive lock of a name, with the defaults.
     *
     * @param name 1 to 255 characters, namespace included, none of them a control character
     * @throws IllegalArgumentException if the name is not such
     * @throws ClientClosedException if the client is closed
     */
    public DistributedLock lock(String name) {
        return lock(name, HoldOptions.defaults());
    }

    /** The exclusive lock of a name; as {@link #lock(String)}. */
    public DistributedLock lock(String name, HoldOptions options) {
        return new DistributedLock(engine, engine.name(name, Mode.EXCLUSIVE), options);
    }

    /**
     * The read-write lock of a name, with the defaults.
     *
     * @param name as for {@link #lock(String)}, whose lock is its writers'
     * @throws IllegalArgumentException if the name is not such
     * @throws UnsupportedByStoreException if the store has no shared holds
     * @throws ClientClosedException if the client is closed
     */
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, HoldOptions.defaults());
    }

    /** The read-write lock of a name; as {@link #readWriteLock(String)}. */
    public DistributedReadWriteLock readWriteLock(String name, HoldOptions options) {
        engine.name(name, Mode.SHARED); // refused here where the store has none
        return new DistributedReadWriteLock(engine, engine.name(name, Mode.EXCLUSIVE), options);
    }

    /**
     * The semaphore of a name, with the defaults.
     *
     * @param name as for {@link #lock(String)}
     * @param permits how many there are, at least 1; {@link DistributedSemaphore} tells what holds while clients disagree
     * @throws IllegalArgumentException if the name is not such, or {@code permits} is below 1
     * @throws UnsupportedByStoreException if the store has no permits
     * @throws ClientClosedException if the client is closed
     */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, HoldOptions.defaults());
    }

    /**
     * The semaphore of a name; as {@link #semaphore(String, int)}.
     *
     * @throws IllegalArgumentException also if the options are re-entrant
     */
    public DistributedSemaphore semaphore(String name, int permits, HoldOptions options) {
        if (permits < 1) {
            throw new IllegalArgumentException("the semaphore '" + name + "' needs at least 1 permit, not " + permits);
        }
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

    /** A lock of several names at once; as {@link #multiLock(Collection)}. */
    public DistributedMultiLock multiLock(Collection<String> names, HoldOptions options) {
        return DistributedMultiLock.of(
                engine,
                names.stream().map(name -> engine.name(name, Mode.EXCLUSIVE)).toList(),
                options);
    }

    /**
     * The election of a name, with the defaults.
     *
     * @param name as for {@link #lock(String)}, whose lock the leader holds
     * @throws IllegalArgumentException if the name is not such
     * @throws ClientClosedException if the client is closed
     */
    public LeaderElection election(String name) {
        return election(name, HoldOptions.defaults());
    }

    /**
     * The election of a name; as {@link #election(String)}. The order of candidates is always that of the store, and
     * nobody waits for the confirmation of a release.
     *
     * @throws IllegalArgumentException also if the options are re-entrant
     */
    public LeaderElection election(String name, HoldOptions options) {
        return new LeaderElection(engine, lock(name, options.strictFifo(true).awaitRelease(false)), candidacies);
    }

    /**
     * Work that one of several servers runs once for a key, which is the name; remembered for 24 hours.
     *
     * @param name as for {@link #lock(String)}, whose lock the one that runs holds
     * @throws IllegalArgumentException if the name is not such
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
        return engine.records().list(pattern).stream()
                .flatMap(stored -> OnceRecord.read(stored).stream())
                .toList();
    }

    /**
     * The locks that are held or waited for, sorted by name.
     *
     * @param pattern which names: {@code *} stands for any characters, {@code ?} for one; the rest for itself
     * @throws HoldfastException if the store does not answer or refuses
     */
    public List<LockStatus> list(String pattern) {
        return engine.inspection().list(pattern);
    }

    /**
     * Those that wait, lock by lock and in the order of each queue: one for each client, whatever the number of its
     * threads. Empty where the store does not keep the waiters' names; {@link LockStatus#waiting()} says how many wait on
     * every store.
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
     * @throws IllegalArgumentException if the name is none, or the token is not positive
     * @throws HoldfastException if the store does not answer or refuses
     */
    public boolean breakGrant(String name, long token, boolean now) {
        if (token <= 0) {
            throw new IllegalArgumentException("a token is positive, not " + token);
        }
        return engine.inspection().breakGrant(name, token, now);
    }

    /**
     * What this client has done since it was opened, and what it does now. Costs a few microseconds; may be asked any
     * time.
     */
    public ClientStatistics statistics() {
        return engine.statistics();
    }

    /** What the store can do and what it promises. */
    public Capabilities capabilities() {
        return engine.capabilities();
    }

    /**
     * Closes the client's candidacies as {@link Candidacy#close()} does, all together, ends every wait with
     * {@link ClientClosedException}, releases what is still held (told as lost first), waits up to
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

    @Override
    public String toString() {
        return "LockClient[" + engine.storeDescription() + "]";
    }

    /** The settings of a client to be. Not thread-safe. */
    public static final class Builder {
        private static final Duration OUTAGE_LIMIT = Duration.ofMinutes(1);
        private static final Duration LONGEST_SESSION = Duration.ofDays(7);

        private final StoreFactory opener;
        private String namespace = "";
        private String label = "";
        private Executor executor = ForkJoinPool.commonPool();
        private final List<LockListener> listeners = new ArrayList<>();
        private Duration outageLimit = OUTAGE_LIMIT;
        private @Nullable TimeSource time;
        private @Nullable String password;
        private @Nullable Duration session;

        private Builder(StoreFactory opener) {
            this.opener = opener;
        }

        /**
         * Prefixes every name in the store, so that applications can share one.
         *
         * @param value 1 to 64 letters, digits, dots, dashes or underscores; stored as {@code namespace:name}
         */
        public Builder namespace(String value) {
            this.namespace = Names.checkNamespace(value);
            return this;
        }

        /** A word that people see beside this client's holds, at most 100 characters; default none. */
        public Builder label(String value) {
            this.label = Names.checkLabel(value);
            return this;
        }

        /** Where {@link DistributedLock#acquireAsync()} completes; default the common pool. */
        public Builder executor(Executor value) {
            this.executor = value;
            return this;
        }

        /** Adds a listener for all locks of this client; {@link #statistics()} needs none. */
        public Builder listener(LockListener value) {
            this.listeners.add(value);
            return this;
        }

        /**
         * The password to log in with where the store's URL names a user at most; a password in the URL comes before it.
         * It appears in no message, and need not be encoded. Stores without log-ins, files, have no use for it.
         *
         * @param value the password as it is; not empty
         */
        public Builder password(String value) {
            if (value.isEmpty()) {
                throw new IllegalArgumentException("a password is not empty; leave it out where there is none");
            }
            this.password = value;
            return this;
        }

        /**
         * How long {@code acquire()}, {@code acquireAsync()} and {@code lock()} wait while the store does not answer:
         * they ride out an outage up to that long, counted from when this client noticed it or from the call if that
         * came later, and throw {@link StoreUnavailableException} then. Default one minute. A wait with a time of its
         * own ends when that has passed, and throws the same where the store does not answer then.
         *
         * @param value not negative; with zero a wait ends as soon as an outage is noticed
         */
        public Builder outageLimit(Duration value) {
            this.outageLimit = Durations.checkOutageLimit(value);
            return this;
        }

        /**
         * How long the store should keep the locks of this client after it has died, where the store keeps them by a
         * session, as ZooKeeper does, and its URL does not say how long. The servers may give another time; the log says
         * so. Other stores take each lock's lease.
         *
         * @param value 1 ms to 7 days; default the store's own
         * @throws IllegalArgumentException if it is not
         */
        public Builder session(Duration value) {
            if (value.toMillis() < 1 || value.compareTo(LONGEST_SESSION) > 0) {
                throw new IllegalArgumentException("a session is 1 ms to 7 days, not " + value);
            }
            this.session = value;
            return this;
        }

        /** The source of time, for tests; default the system's. */
        public Builder time(TimeSource value) {
            this.time = value;
            return this;
        }

        /**
         * Opens the store.
         *
         * @throws IllegalArgumentException if no store on the class path knows the URL
         * @throws HoldfastException if the store cannot be reached or refuses
         */
        @CheckReturnValue
        public LockClient build() {
            Optional<String> secret = Optional.ofNullable(password);
            Optional<Duration> asked = Optional.ofNullable(session);
            return new LockClient(Engine.open(
                    clock -> opener.open(new StoreContext(clock, secret, asked)),
                    Environment.ofThisMachine(time, executor),
                    namespace,
                    label,
                    listeners,
                    outageLimit));
        }
    }
}
