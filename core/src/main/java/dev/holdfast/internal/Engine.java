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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine of one client, as the API sees it: how it is opened and closed, and the ways to acquire. Its parts are in
 * {@link EngineContext}. Thread-safe.
 *
 * <pre>
 *   API ──► Engine ──► Acquisition ──► LocalLocks ──► ExclusiveQueue | SharedQueue ──► ClaimInFlight ──► Store
 *                                                             │    ▲
 *                        LeaseRenewer, ReleaseSender ◄────────┘    └──── GrantState, HoldState
 * </pre>
 */
public final class Engine {
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
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

    private final EngineContext context;
    private final Names names;
    private final Inspection inspection;
    private final @Nullable SystemTime ownTime;

    private Engine(EngineContext context, Names names, @Nullable SystemTime ownTime) {
        this.context = context;
        this.names = names;
        this.inspection = new Inspection(context, names);
        this.ownTime = ownTime;
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
            EngineContext context = new EngineContext(store, time, client, label, environment, listeners, outageLimit);
            store.listen(context.store);
            return new Engine(context, new Names(namespace), own);
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
        context.throwIfClosed();
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
        return new Acquisition(context, name, options, false);
    }

    /** The lock as {@link java.util.concurrent.locks.Lock}. */
    public ThreadLock javaLock(LockName name, HoldOptions options) {
        return new JavaLock(context, name, options);
    }

    /** How several locks are acquired together. */
    public MultiAcquisition acquisition(List<LockName> names, HoldOptions options) {
        return new MultiAcquisition(context, names, options);
    }

    /** Whether a hold is by a grant of this client. */
    public boolean owns(HoldHandle hold) {
        return hold.hold.context() == context;
    }

    /** Queries about the store's locks, the breaking of grants, and records. */
    public Inspection inspection() {
        return inspection;
    }

    /** Adds a listener, unless it is one already. */
    public void addListener(LockListener listener) {
        context.dispatcher.add(listener);
    }

    /** The client's figures. */
    public ClientStatistics statistics() {
        return context.telemetry.statistics(context.isClosed() || context.reachability.isReachable());
    }

    /** The store's capabilities. */
    public Capabilities capabilities() {
        return context.store.capabilities();
    }

    /** The store, for messages. */
    public String storeDescription() {
        return context.store.description();
    }

    /** See {@link dev.holdfast.LockClient#close}. */
    public void close() {
        if (!context.close()) {
            return;
        }
        try {
            giveUpAll();
            context.releaseSender.awaitQuiet(CLOSE_LIMIT, context.locks::isEmpty);
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
        boolean first = context.close();
        if (first) {
            giveUpAll();
        }
        return first;
    }

    private void giveUpAll() {
        ClientClosedException closed = context.closedException();
        Effects ends = new Effects();
        context.locks.all().forEach(lock -> ends.add(() -> lock.shutDown(closed)));
        ends.add(context.releaseSender::beginClose);
        ends.run();
    }

    /** Whether a close that has begun has nothing more to wait for. */
    boolean isQuiet() {
        return context.locks.isEmpty() && context.releaseSender.isQuiet(); // in this order: see awaitQuiet
    }

    /** The last steps of a close, when nothing is under way or the time limit has passed. */
    void endClose() {
        context.renewer.close();
        context.releaseSender.close();
        try {
            context.store.close();
        } finally {
            context.dispatcher.close();
            context.completionThreads.close();
            if (ownTime != null) {
                ownTime.close();
            }
        }
    }

    /** Runs a short task that never blocks, once, after a time. */
    public Scheduled after(Duration delay, Runnable task) {
        return context.time.schedule(task, delay);
    }

    /** The client's clock, for differences. */
    public long nanoTime() {
        return context.time.nanoTime();
    }

    /** The context that the parts of the engine share. */
    EngineContext context() {
        return context;
    }
}
