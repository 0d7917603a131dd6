package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Loss;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The parts of one client's engine, assembled: what its queues and acquisitions share. It has no logic of its own beyond
 * whether the client is closed. Thread-safe.
 */
final class EngineContext {
    /** How many grants a client retains: each is renewed. */
    private static final int MOST_RETAINED = 10_000;

    private final StoreLink store;
    private final ElapsedTime time;
    private final Environment environment;
    private final EventDispatcher dispatcher;
    private final CompletionThreads completionThreads;
    private final CallSites callSites = new CallSites();
    private final Telemetry telemetry;
    private final Reachability reachability;
    private final LeaseRenewer renewer;
    private final ReleaseSender releaseSender;
    private final ClaimFactory claims;
    private final LocalLocks locks;
    private final Latest<Retention> retained = new Latest<>(MOST_RETAINED);
    private final AtomicBoolean closed = new AtomicBoolean();

    EngineContext(
            StoreLink store,
            ElapsedTime time,
            String label,
            Environment environment,
            EventDispatcher dispatcher,
            CompletionThreads completionThreads,
            Counters counters,
            Duration outageLimit) {
        this.time = time;
        this.environment = environment;
        this.dispatcher = dispatcher;
        this.completionThreads = completionThreads;
        this.store = store;
        this.telemetry = new Telemetry(counters, dispatcher, time, store.description(), callSites);
        this.locks = new LocalLocks(this);
        this.reachability = new Reachability(store, time, telemetry, outageLimit, locks);
        store.report(reachability);
        this.renewer = new LeaseRenewer(store, time, telemetry);
        this.releaseSender = new ReleaseSender(store, time, telemetry);
        this.claims = new ClaimFactory(environment.ids(), label);
    }

    StoreLink store() {
        return store;
    }

    /** The store, for messages. */
    String description() {
        return store.description();
    }

    /** The store's capabilities; more may be known once a lazy client has connected. */
    Capabilities capabilities() {
        return store.capabilities();
    }

    /** Which callers have their place recorded. */
    CallSites callSites() {
        return callSites;
    }

    ElapsedTime time() {
        return time;
    }

    // ---- for holds ----

    /** By the client's clock, for differences. */
    long nanoTime() {
        return time.nanoTime();
    }

    /** Ends a grant whose deadline has passed, and marks a grant as in doubt if the machine slept meanwhile. */
    void examine(GrantState grant) {
        StackRoom.forStep();
        renewer.examine(grant);
    }

    /** Renews a fixed lease on its holder's behalf, and waits. */
    void extend(HoldState hold, Duration lease) {
        renewer.extend(hold, lease, environment.awaiting());
    }

    /** Notes a loss for an action, which runs on the listener thread; after {@link #flush} where nothing else follows. */
    void note(Loss loss, Consumer<Loss> action) {
        dispatcher.note(loss, action, () -> action.accept(loss));
    }

    /** Notes an action for a holder whose lock others wait for; it runs on the listener thread. */
    void noteWanted(String name, Runnable action) {
        dispatcher.noteWanted(name, action);
    }

    /** Runs a short task on the client's timer. */
    void soon(Runnable task) {
        time.schedule(task, Duration.ZERO);
    }

    /** Notifies the listeners of the noted events. */
    void flush() {
        telemetry.flush();
    }

    // ---- its parts ----

    Environment environment() {
        return environment;
    }

    EventDispatcher dispatcher() {
        return dispatcher;
    }

    CompletionThreads completionThreads() {
        return completionThreads;
    }

    /** Where futures complete unless their caller says otherwise. */
    Executor completing() {
        Executor chosen = environment.completing();
        return chosen == null ? completionThreads : chosen;
    }

    Telemetry telemetry() {
        return telemetry;
    }

    Reachability reachability() {
        return reachability;
    }

    LeaseRenewer renewer() {
        return renewer;
    }

    ReleaseSender releaseSender() {
        return releaseSender;
    }

    ClaimFactory claims() {
        return claims;
    }

    LocalLocks locks() {
        return locks;
    }

    Latest<Retention> retained() {
        return retained;
    }

    /** How a thread parks while it waits for its turn. */
    Consumer<Object> parking() {
        return environment.parking();
    }

    /** Waits for a future, as a caller's thread. */
    <T> T await(CompletableFuture<T> future) {
        environment.awaiting().accept(future);
        return future.join();
    }

    /**
     * Runs a task that must not be dropped when the store sends next: at once if the store cannot report when that is. It
     * may run more than once, as where it has thrown.
     */
    void beforeSending(LockName name, Runnable task) {
        Runnable sure = () -> {
            try {
                task.run();
            } catch (RuntimeException | Error broken) {
                task.run();
            }
        };
        try {
            store.beforeSending(name.inStore(), sure);
        } catch (RuntimeException | Error broken) {
            task.run();
        }
    }

    /** Marks the client closed; false if it was before. */
    boolean close() {
        return closed.compareAndSet(false, true);
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
        return new ClientClosedException("the client of " + description() + " is closed; make a new one");
    }
}
