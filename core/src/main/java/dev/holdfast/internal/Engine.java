package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.ClientStatistics;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockListener;
import dev.holdfast.ThreadLock;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.TimeSource.Scheduled;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one client: its parts, how it is opened and closed, and the ways to acquire. Thread-safe.
 *
 * <pre>
 *   API ──► Engine ──► Acquisition ──► LocalLocks ──► ExclusiveQueue | SharedQueue ──► ClaimInFlight ──► Store
 *                                                             │    ▲
 *                        LeaseRenewer, ReleaseSender ◄────────┘    └──── GrantState, HoldState
 * </pre>
 */
public final class Engine {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
    /** How many grants a client retains: each is renewed. */
    private static final int MOST_RETAINED = 10_000;
    /** After a thread could not be started. */
    private static final Duration RETRY = Duration.ofMillis(100);
    /** So long, no thread took an outcome that waited: those who run callbacks block. */
    private static final Duration BLOCKED = Duration.ofMillis(5);

    private static final AtomicLong CLIENTS = new AtomicLong();

    /**
     * The environment of an engine besides its store: time, threads and random ids. A test that controls all of them
     * decides everything an engine does; the simulation does so.
     *
     * @param time the source of time; null for the system's, with a timer thread of the engine's own
     * @param completing where the futures of asynchronous callers complete; null for threads of the engine's own
     * @param notifying where listeners run, one after another; null for a thread of the engine's own
     * @param awaiting how a closing thread waits until a future is complete, however it completes
     * @param parking how an acquiring thread parks until it is woken; as {@link LockSupport#park(Object)} it may return sooner
     * @param ids the source of the identities of claims: no two may ever be the same
     */
    public record Environment(
            @Nullable TimeSource time,
            @Nullable Executor completing,
            @Nullable Executor notifying,
            Consumer<CompletableFuture<?>> awaiting,
            Consumer<Object> parking,
            Supplier<ClaimId> ids) {

        /** The real environment, with the time and the threads of a client's settings. */
        public static Environment ofThisMachine(
                @Nullable TimeSource time, @Nullable Executor completing, @Nullable Executor notifying) {
            return new Environment(time, completing, notifying, Environment::park, LockSupport::park, ClaimId::random);
        }

        private static void park(CompletableFuture<?> future) {
            future.handle((answer, failure) -> true).join();
        }
    }

    private final @Nullable SystemTime ownTime;
    private final Names names;
    private final Inspection inspection;
    private final AtomicBoolean closed = new AtomicBoolean();

    // ---- what its parts share ----

    final ElapsedTime time;
    final Environment environment;
    final EventDispatcher dispatcher;
    final CompletionThreads completionThreads;
    final CallSite.Sample callSites = new CallSite.Sample();
    final Telemetry telemetry;
    final StoreLink store;
    final LocalLocks locks;
    final Reachability reachability;
    final LeaseRenewer renewer;
    final ReleaseSender releaseSender;
    final ClaimFactory claims;
    final Latest<Retention> retained = new Latest<>(MOST_RETAINED);

    /** @param client its name, for those of its threads */
    private Engine(
            StoreOpening opening,
            ElapsedTime time,
            @Nullable SystemTime ownTime,
            String client,
            String namespace,
            String label,
            Environment environment,
            List<LockListener> listeners,
            Duration outageLimit) {
        this.time = time;
        this.ownTime = ownTime;
        this.environment = environment;
        this.dispatcher = new EventDispatcher(
                listeners,
                environment.notifying(),
                client + "-listeners",
                task -> time.schedule(task, RETRY),
                opening.description());
        this.completionThreads = new CompletionThreads(
                client + "-completions", task -> time.schedule(task, BLOCKED), opening.description());
        this.telemetry = new Telemetry(dispatcher, time, opening.description(), callSites);
        this.store = new StoreLink(this, opening);
        this.locks = new LocalLocks(this);
        this.reachability = new Reachability(store, time, telemetry, outageLimit, locks);
        this.renewer = new LeaseRenewer(store, time, telemetry);
        this.releaseSender = new ReleaseSender(store, time, telemetry);
        this.claims = new ClaimFactory(environment.ids(), label);
        this.names = new Names(namespace);
        this.inspection = new Inspection(this, names);
    }

    /**
     * Opens a store and an engine on it.
     *
     * @param environment its time, its threads and its ids
     * @param outageLimit how long callers without a time limit wait while the store does not answer
     */
    public static Engine open(
            Function<TimeSource, StoreOpening> opener,
            Environment environment,
            String namespace,
            String label,
            List<LockListener> listeners,
            Duration outageLimit) {
        String client = "holdfast-" + CLIENTS.incrementAndGet();
        TimeSource given = environment.time();
        SystemTime own = given == null ? new SystemTime(client + "-timer").start() : null;
        ElapsedTime time = ElapsedTime.of(own != null ? own : Objects.requireNonNull(given));
        boolean interrupted = Thread.interrupted(); // some drivers would stop half-way, others swallow it
        StoreOpening store = null;
        try {
            store = opener.apply(time);
            Engine engine = new Engine(store, time, own, client, namespace, label, environment, listeners, outageLimit);
            store.listen(engine.store);
            return engine;
        } catch (RuntimeException | Error e) {
            try {
                if (store != null) {
                    store.close();
                }
            } finally {
                if (own != null) {
                    own.close();
                }
            }
            throw e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // ---- for the API ----

    /** The name of a lock to be held so, checked; refused where the store cannot, and once the client is closed. */
    public LockName name(String name, Mode mode) {
        throwIfClosed();
        if (!capabilities().modes().contains(mode.kind())) {
            String lacking = switch (mode.kind()) {
                case EXCLUSIVE -> "exclusive locks";
                case SHARED -> "read-write locks";
                case PERMITS -> "semaphores";
            };
            throw new UnsupportedByStoreException(
                    storeDescription() + " has no " + lacking + ", so none for '" + name + "': use another store");
        }
        return names.of(name, mode);
    }

    /** How a lock is acquired. */
    public Acquisition acquisition(LockName name, HoldOptions options) {
        return new Acquisition(this, name, options, false);
    }

    /** The lock as {@link java.util.concurrent.locks.Lock}. */
    public ThreadLock javaLock(LockName name, HoldOptions options) {
        return new JavaLock(this, name, options);
    }

    /** How several locks are acquired together. */
    public MultiAcquisition acquisition(List<LockName> names, HoldOptions options) {
        return new MultiAcquisition(this, names, options);
    }

    /** Whether a hold is by a grant of this client. */
    public boolean owns(HoldHandle hold) {
        return hold.hold.engine() == this;
    }

    /** Queries about the store's locks, the breaking of grants, and records. */
    public Inspection inspection() {
        return inspection;
    }

    /** Adds a listener, unless it is one already. */
    public void addListener(LockListener listener) {
        dispatcher.add(listener);
    }

    /** The client's figures. */
    public ClientStatistics statistics() {
        return telemetry.statistics(isClosed() || reachability.isReachable());
    }

    /** The store's capabilities. */
    public Capabilities capabilities() {
        return store.capabilities();
    }

    /** The store, for messages. */
    public String storeDescription() {
        return store.description();
    }

    /** See {@link dev.holdfast.LockClient#close}. */
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        try {
            giveUpAll();
            releaseSender.awaitQuiet(CLOSE_LIMIT, locks::isEmpty);
        } finally {
            boolean interrupted = Thread.interrupted(); // it would end what the store waits for as it closes
            try {
                endClose();
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** Accepts no more callers and releases everything, without waiting; false if it was closed before. */
    boolean beginClose() {
        boolean first = closed.compareAndSet(false, true);
        if (first) {
            giveUpAll();
        }
        return first;
    }

    private void giveUpAll() {
        ClientClosedException closed = closedException();
        Effects ends = new Effects();
        locks.all().forEach(lock -> ends.add(() -> lock.shutDown(closed)));
        ends.add(releaseSender::beginClose);
        ends.run();
    }

    /** Whether a close that has begun has nothing more to wait for. */
    boolean isQuiet() {
        return locks.isEmpty() && releaseSender.isQuiet(); // in this order: see awaitQuiet
    }

    /** The last steps of a close, when nothing is under way or the time limit has passed. */
    void endClose() {
        renewer.close();
        releaseSender.close();
        try {
            store.close();
        } finally {
            dispatcher.close();
            completionThreads.close();
            if (ownTime != null) {
                ownTime.close();
            }
        }
    }

    /** Runs a short task that never blocks, once, after a time. */
    public Scheduled after(Duration delay, Runnable task) {
        return time.schedule(task, delay);
    }

    /** The client's clock, for differences. */
    public long nanoTime() {
        return time.nanoTime();
    }

    // ---- for its parts ----

    /** Where futures complete unless their caller says otherwise. */
    Executor completing() {
        Executor chosen = environment.completing();
        return chosen == null ? completionThreads : chosen;
    }

    boolean isClosed() {
        return closed.get();
    }

    void throwIfClosed() {
        if (closed.get()) {
            throw closedException();
        }
    }

    ClientClosedException closedException() {
        return new ClientClosedException("the client of " + store.description() + " is closed; make a new one");
    }
}
