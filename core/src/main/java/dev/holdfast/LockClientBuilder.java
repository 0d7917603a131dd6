package dev.holdfast;

import dev.holdfast.internal.Durations;
import dev.holdfast.internal.Engine;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.internal.Names;
import dev.holdfast.internal.StoreOpening;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a client to be, from {@link LockClient#builder(String)}.
 *
 * <pre>{@code
 * LockClient client = LockClient.builder("redis://127.0.0.1:6379")
 *         .namespace("shop")
 *         .connectLazily(true)       // the application may start while Redis is down
 *         .build();
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class LockClientBuilder {
    private static final Duration OUTAGE_LIMIT = Duration.ofMinutes(1);
    private static final Duration LONGEST_SESSION = Duration.ofDays(7);

    private final StoreFactory factory;
    private String namespace = "";
    private String label = "";
    private @Nullable Executor executor;
    private @Nullable Executor listenerExecutor;
    private final List<LockListener> listeners = new ArrayList<>();
    private Duration outageLimit = OUTAGE_LIMIT;
    private @Nullable TimeSource time;
    private @Nullable String password;
    private @Nullable Duration session;
    private boolean lazily;
    private boolean open;

    LockClientBuilder(StoreFactory factory) {
        this.factory = factory;
    }

    /**
     * Prefixes every name in the store, so that applications can share one.
     *
     * @param value 1 to 64 letters, digits, dots, dashes or underscores; stored as {@code namespace:name}
     */
    public LockClientBuilder namespace(String value) {
        this.namespace = Names.checkNamespace(value);
        return this;
    }

    /** A word that people see beside this client's holds, at most 100 characters; default none. */
    public LockClientBuilder label(String value) {
        this.label = Names.checkLabel(value);
        return this;
    }

    /**
     * The executor that completes the futures of {@link DistributedLock#acquireAsync()} and the like, and so runs their
     * callbacks. The default are daemon threads of the client, up to 256 at a time, that end when idle. If all of them
     * are busy, further futures complete on virtual threads from Java 21 on; before, they wait, and the log says so.
     * Tasks that this executor refuses, or would run within 16 others on one thread, run on those threads.
     */
    public LockClientBuilder executor(Executor value) {
        this.executor = value;
        return this;
    }

    /**
     * The executor that calls listeners and the actions of {@link Hold#onLost}, one call after another. The default is a
     * thread of the client; that thread also runs what this executor refuses. An executor that runs its tasks on the
     * calling thread makes a slow listener delay locks; one that drops a task silently ends all reports.
     */
    public LockClientBuilder listenerExecutor(Executor value) {
        this.listenerExecutor = value;
        return this;
    }

    /** Adds a listener for all locks of this client; {@link LockClient#statistics()} needs none. */
    public LockClientBuilder listener(LockListener value) {
        this.listeners.add(value);
        return this;
    }

    /**
     * The password to log in with where the store's URL names a user at most; a password in the URL takes precedence.
     * It appears in no message, and need not be encoded. Files have no log-in and ignore it.
     *
     * @param value the password as it is; not empty
     */
    public LockClientBuilder password(String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a password is not empty; leave it out where there is none");
        }
        this.password = value;
        return this;
    }

    /**
     * How long {@code acquire()}, {@code acquireAsync()} and {@code lock()} continue to wait while the store does not
     * answer, before they throw {@link StoreUnavailableException}. The time counts from the moment when this client
     * noticed the outage, or from the call if that came later. Default one minute. A wait with a time limit ends at its
     * limit, and throws the same exception if the store does not answer then.
     *
     * @param value not negative; with zero a wait ends as soon as an outage is noticed
     */
    public LockClientBuilder outageLimit(Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException("the outage limit must not be negative: " + Durations.text(value));
        }
        this.outageLimit = value;
        return this;
    }

    /**
     * How long the store keeps the locks of this client after the client has died, if the store keeps them by a session
     * and its URL names no time: ZooKeeper, and SQL servers with {@code mode=session}. ZooKeeper's servers may give
     * another time; the log says so. Other stores keep each lock until its lease ends.
     *
     * @param value 1 ms to 7 days, with {@code mode=session} 500 ms at least; default the store's own
     * @throws IllegalArgumentException if it is not
     */
    public LockClientBuilder session(Duration value) {
        if (value.toMillis() < 1 || value.compareTo(LONGEST_SESSION) > 0) {
            throw new IllegalArgumentException("a session is 1 ms to 7 days, not " + value);
        }
        this.session = value;
        return this;
    }

    /**
     * Whether the client is made without its store, which may be down then. The first request opens the store: a
     * {@code tryAcquire}, say, or a {@code status}. Until the store answers, each request tries to open it again. If that
     * fails, the request throws {@link StoreUnavailableException}: within the store's time-out, or, for an acquire that
     * waits, after its own time or the {@link #outageLimit}. {@link #build()} refuses a wrong URL or option. The first
     * request reports a wrong password, a missing privilege, or a store that lacks a requested feature.
     *
     * @param value default false: {@link #build()} opens the store, and fails if it cannot
     */
    public LockClientBuilder connectLazily(boolean value) {
        this.lazily = value;
        return this;
    }

    /** The source of time, for tests; default the system's. */
    public LockClientBuilder time(TimeSource value) {
        this.time = value;
        return this;
    }

    /** The store is there: to connect lazily would keep the client from closing it. */
    LockClientBuilder alreadyOpen() {
        open = true;
        return this;
    }

    /**
     * Makes the client and opens the store, unless it is to {@linkplain #connectLazily connect lazily}.
     *
     * @throws IllegalArgumentException if no store on the class path knows the URL, or the URL is malformed
     * @throws HoldfastException if the store is opened now, and cannot be reached or refuses
     */
    @CheckReturnValue
    public LockClient build() {
        Optional<String> secret = Optional.ofNullable(password);
        Optional<Duration> asked = Optional.ofNullable(session);
        return new LockClient(Engine.open(
                clock -> store(new StoreContext(clock, secret, asked)),
                Environment.ofThisMachine(time, executor, listenerExecutor),
                namespace,
                label,
                listeners,
                outageLimit));
    }

    private StoreOpening store(StoreContext context) {
        return lazily && !open
                ? StoreOpening.later(factory, context)
                : StoreOpening.of(factory.open(context), context.time());
    }
}
