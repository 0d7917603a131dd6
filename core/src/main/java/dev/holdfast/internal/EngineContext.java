package dev.holdfast.internal;

import dev.holdfast.Capabilities;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Loss;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The parts of one client's engine, assembled: what its queues and acquisitions share. It has no logic of its own beyond
 * whether the client is closed. Thread-safe.
 */
final class EngineContext implements HoldContext {
    private final StoreLink store;
    private final TimeSource time;
    private final ClientIdentity identity;
    private final Environment environment;
    private final EventDispatcher dispatcher;
    private final CompletionThreads completionThreads;
    private final CallSites callSites = new CallSites();
    private final Telemetry telemetry;
    private final Reachability reachability;
    private final LeaseRenewer renewer;
    private final ReleaseSender releaseSender;
    private final GrantRefresher refresher;
    private final ClaimFactory claims;
    private final QueueRegistry queues;
    private final RetainedGrants retained = new RetainedGrants(RetainedGrants.MOST);
    private final AtomicBoolean closed = new AtomicBoolean();

    EngineContext(
            StoreLink store,
            TimeSource time,
            ClientIdentity identity,
            Environment environment,
            EventDispatcher dispatcher,
            CompletionThreads completionThreads,
            Counters counters,
            Duration outageLimit) {
        this.time = time;
        this.identity = identity;
        this.environment = environment;
        this.dispatcher = dispatcher;
        this.completionThreads = completionThreads;
        this.store = store;
        this.telemetry = new Telemetry(counters, dispatcher, time, store.description(), callSites);
        this.queues = new QueueRegistry(this);
        this.reachability = new Reachability(store, time, telemetry, outageLimit, queues);
        store.report(reachability);
        this.renewer = new LeaseRenewer(store, time, telemetry);
        this.releaseSender = new ReleaseSender(store, time, telemetry);
        this.refresher = new GrantRefresher(store);
        this.claims = new ClaimFactory(environment.ids(), identity);
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

    TimeSource time() {
        return time;
    }

    // ---- for holds ----

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public void examine(GrantState grant) {
        StackRoom.forStep();
        renewer.examine(grant);
    }

    @Override
    public void extend(HoldState hold, Duration lease) {
        renewer.extend(hold, lease, environment.awaiting());
    }

    @Override
    public void note(Loss loss, Consumer<Loss> action) {
        dispatcher.note(loss, action, () -> action.accept(loss));
    }

    @Override
    public void noteWanted(String name, Runnable action) {
        dispatcher.noteWanted(name, action);
    }

    @Override
    public void soon(Runnable task) {
        time.schedule(task, Duration.ZERO);
    }

    @Override
    public void flush() {
        telemetry.flush();
    }

    // ---- its parts ----

    /** This process, as people see it beside its holds. */
    ClientIdentity identity() {
        return identity;
    }

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

    GrantRefresher refresher() {
        return refresher;
    }

    ClaimFactory claims() {
        return claims;
    }

    QueueRegistry queues() {
        return queues;
    }

    RetainedGrants retained() {
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
     * Runs a task that must not be dropped when the store sends next: at once if the store cannot report when that is.
     */
    void beforeSending(LockName name, Runnable task) {
        AtomicBoolean done = new AtomicBoolean();
        Runnable once = () -> {
            if (done.compareAndSet(false, true)) {
                task.run();
            }
        };
        try {
            store.beforeSending(name.inStore(), once);
        } catch (RuntimeException | Error broken) {
            once.run();
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
