package dev.holdfast.internal;

import dev.holdfast.ClientClosedException;
import dev.holdfast.LockListener;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.spi.support.ElapsedTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The parts of one client's engine, assembled: what its queues and acquisitions share. It has no logic of its own beyond
 * whether the client is closed. Thread-safe.
 */
final class EngineContext {
    /** How many grants a client retains: each is renewed. */
    private static final int MOST_RETAINED = 10_000;
    /** After a thread could not be started. */
    private static final Duration RETRY = Duration.ofMillis(100);
    /** So long, no thread took an outcome that waited: those who run callbacks block. */
    private static final Duration BLOCKED = Duration.ofMillis(5);

    final StoreLink store;
    final ElapsedTime time;
    final Environment environment;
    final EventDispatcher dispatcher;
    final CompletionThreads completionThreads;
    final CallSite.Sample callSites = new CallSite.Sample();
    final Telemetry telemetry;
    final Reachability reachability;
    final LeaseRenewer renewer;
    final ReleaseSender releaseSender;
    final ClaimFactory claims;
    final LocalLocks locks;
    final Latest<Retention> retained = new Latest<>(MOST_RETAINED);
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param client its name, for those of its threads */
    EngineContext(
            StoreOpening opening,
            ElapsedTime time,
            String client,
            String label,
            Environment environment,
            List<LockListener> listeners,
            Duration outageLimit) {
        this.time = time;
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
    }

    /** Where futures complete unless their caller says otherwise. */
    Executor completing() {
        Executor chosen = environment.completing();
        return chosen == null ? completionThreads : chosen;
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
        return new ClientClosedException("the client of " + store.description() + " is closed; make a new one");
    }
}
