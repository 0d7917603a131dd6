package dev.holdfast.testkit;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockClientBuilder;
import dev.holdfast.LockEvent;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Grant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Locks for one test, in memory: does the code under test survive losing its lock?
 *
 * <pre>{@code
 * try (TestLocks locks = TestLocks.standing()) {
 *     Orders orders = new Orders(locks.client());
 *     orders.onCharge(() -> locks.pauseHolder("order:42"));    // a long garbage collection, just before the write
 *     orders.charge(42);
 *     locks.writes("order:42").assertOnlyByHolders();
 * }
 * }</pre>
 *
 * <pre>
 *   client()        ──► clock ──► way to the store ─┐
 *   anotherClient() ──► clock ──► way to the store ─┼─► one store in memory, one time
 *   somebodyElse()  ──► clock ──► way to the store ─┘
 *                       pause      lose, storeAway       advance
 * </pre>
 *
 * <p>Names are those of the store: with a namespace, {@code namespace:name}. What is done here is over when the call
 * returns, calls of listeners included; only code that runs on other threads goes on by itself. Thread-safe.
 */
public final class TestLocks implements AutoCloseable {
    /** The tokens of one grant begin at its number times this. */
    static final int TOKENS_PER_GRANT = 1024;

    private static final Instant NEW_YEAR = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration JUST_AFTER = Duration.ofMillis(1);
    private static final System.Logger LOG = System.getLogger("dev.holdfast.testkit");

    private final TestTime time;
    private final MemoryStore memory;
    private final ListenerThread listeners = new ListenerThread();
    private final ReentrantLock mutex = new ReentrantLock();
    private final TestProcesses processes = new TestProcesses();
    private final AtomicBoolean warned = new AtomicBoolean();
    private volatile boolean storeIsAway;
    private @Nullable TestProcess first;

    private TestLocks(TestTime time) {
        this.time = time;
        this.memory = new MemoryStore(time);
    }

    /** With a time that stands still, on January 1, 2026, until {@link #advance} moves it. A wait then ends only by that. */
    public static TestLocks standing() {
        return standingAt(NEW_YEAR);
    }

    /** As {@link #standing()}, from another date on, such as one before a {@link dev.holdfast.Schedule}. */
    public static TestLocks standingAt(Instant start) {
        return new TestLocks(new TestTime(start, false));
    }

    /**
     * With a time that runs with the machine's clock and can be moved ahead: for code that waits for locks on threads which
     * the test does not see, as in the test of a whole application.
     */
    public static TestLocks flowing() {
        return new TestLocks(new TestTime(Instant.now(), true));
    }

    // ---- clients ----

    /** The client for the code under test; always the same. It is closed with this, and may be closed before. */
    public LockClient client() {
        mutex.lock();
        try {
            TestProcess process = first;
            if (process == null) {
                process = process(UnaryOperator.identity());
                first = process;
                processes.addUnderTest(process);
            }
            return process.client;
        } finally {
            mutex.unlock();
        }
    }

    /** One more client for the code under test, such as a second server of the same application. */
    public LockClient anotherClient() {
        return anotherClient(UnaryOperator.identity());
    }

    /**
     * One more client with settings: a namespace, listeners, an executor.
     *
     * @param settings changes the builder; time and the listener's executor remain those of the test
     */
    public LockClient anotherClient(UnaryOperator<LockClientBuilder> settings) {
        TestProcess process = process(settings);
        processes.addUnderTest(process);
        return process.client;
    }

    /** Somebody who competes with the code under test: another process each time. */
    public Contender somebodyElse() {
        Executor immediately = Runnable::run;
        TestProcess process = process(builder -> builder.label("somebody else").executor(immediately));
        return processes.addOther(process);
    }

    private TestProcess process(UnaryOperator<LockClientBuilder> settings) {
        TestProcess process = new TestProcess(time, memory, listeners, this::warnIfNobodyMovesTime, settings);
        if (storeIsAway) {
            process.store().leave();
        }
        return process;
    }

    // ---- time ----

    /** How much time has passed in this test. */
    public Duration elapsed() {
        return Duration.ofNanos(time.nanoTime());
    }

    /** Moves time ahead. Leases are renewed, run out, and waits end on the way, in their order. */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("time moves ahead only, not by " + by);
        }
        time.advance(by);
        listeners.drain();
    }

    /**
     * Waits until that many callers of the clients under test wait for locks, in the queue of the store or behind a hold of
     * their own client; at most ten seconds of real time.
     */
    public void awaitWaiting(int callers) {
        processes.awaitWaiting(callers, PATIENCE);
    }

    private void warnIfNobodyMovesTime(LockEvent.Waiting event) {
        if (time.flows()) {
            return;
        }
        long moves = time.moves();
        CompletableFuture.delayedExecutor(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .execute(() -> {
                    if (processes.waiting() > 0 && time.moves() == moves && warned.compareAndSet(false, true)) {
                        LOG.log(
                                System.Logger.Level.WARNING,
                                "a caller has waited for '" + event.name() + "' for " + PATIENCE.toSeconds()
                                        + " s, and the time of this test stands still: move it by TestLocks.advance,"
                                        + " or use TestLocks.flowing()");
                    }
                });
    }

    // ---- faults ----

    /**
     * The hold ends now, as when the session that kept it is gone: its client is told, and the next one may have the lock.
     *
     * @throws IllegalStateException if it is closed or lost already
     */
    public void lose(Hold hold) {
        boolean lost = false;
        for (TestProcess process : processes.all()) {
            for (Grant grant : process.store().grants()) {
                if (grant.id().value().equals(hold.id())) {
                    lose(process, grant);
                    lost = true;
                }
            }
        }
        if (!lost) {
            throw processes.nobodyHolds(hold.name());
        }
    }

    /**
     * Every hold of this lock that the clients under test have ends now; as {@link #lose(Hold)}.
     *
     * @throws IllegalStateException if none of them holds it
     */
    public void lose(String name) {
        for (TestProcess process : processes.holders(name)) {
            process.grantsOf(name).forEach(grant -> lose(process, grant));
        }
    }

    private void lose(TestProcess process, Grant grant) {
        time.whileNothingRuns(() -> process.store().lose(grant));
        listeners.drain();
    }

    /**
     * Stops a client for some time, as a long garbage collection or a suspended machine stops a process: it renews nothing,
     * and its leases may run out. The thread that calls this goes on when the time has passed.
     *
     * @param client one of this test
     * @param length for how long
     */
    public void pause(LockClient client, Duration length) {
        pause(client, length, () -> {});
    }

    /**
     * As {@link #pause(LockClient, Duration)}, with something that happens at the end of the pause, while the client still
     * stands: what others do in the meantime. That must not use the stopped client: its calls wait for the end.
     */
    public void pause(LockClient client, Duration length, Runnable meanwhile) {
        pause(List.of(processes.of(client)), length, meanwhile);
    }

    /**
     * Stops the client under test that holds a lock until just after its lease has run out; as
     * {@link #pause(LockClient, Duration)}.
     *
     * @throws IllegalStateException if none of the clients under test holds it
     */
    public void pauseHolder(String name) {
        pauseHolder(name, () -> {});
    }

    /** As {@link #pauseHolder(String)}, with something that happens while the holder still stands. */
    public void pauseHolder(String name, Runnable meanwhile) {
        List<TestProcess> holders = processes.holders(name);
        Duration longest = holders.stream()
                .flatMap(process -> process.grantsOf(name).stream())
                .map(Grant::lease)
                .max(Duration::compareTo)
                .orElseThrow(() -> processes.nobodyHolds(name));
        pause(holders, longest.plus(JUST_AFTER), meanwhile);
    }

    private void pause(List<TestProcess> stopped, Duration length, Runnable meanwhile) {
        stopped.forEach(TestProcess::stop);
        try {
            advance(length);
            meanwhile.run();
        } finally {
            time.whileNothingRuns(() -> stopped.forEach(TestProcess::goOn));
            listeners.drain();
        }
    }

    /**
     * The store is away, for all clients, also for those that are made meanwhile: requests fail with {@link dev.holdfast.StoreUnavailableException}, callers of
     * {@code acquire()} wait, nothing is renewed. Leases run out in the meantime.
     */
    public void storeAway() {
        storeIsAway = true;
        processes.all().forEach(process -> process.store().leave());
        listeners.drain();
    }

    /** The store is back; those who wait are in its queue again. */
    public void storeBack() {
        storeIsAway = false;
        processes.all().forEach(process -> process.store().comeBack());
        listeners.drain();
    }

    /** The store is away for some time, which passes. */
    public void storeAway(Duration length) {
        storeAway();
        try {
            advance(length);
        } finally {
            storeBack();
        }
    }

    /** One client alone is cut off from the store, which serves all others; as {@link #storeAway()}. */
    public void cutOff(LockClient client) {
        processes.of(client).store().leave();
        listeners.drain();
    }

    /** Ends {@link #cutOff}. */
    public void reconnect(LockClient client) {
        processes.of(client).store().comeBack();
        listeners.drain();
    }

    // ---- what came of it ----

    /** What happened to the locks of the clients under test: for each client in its order. */
    public List<LockEvent> events() {
        listeners.drain();
        return processes.underTest().stream()
                .flatMap(process -> process.events().stream())
                .toList();
    }

    /**
     * Fails unless the client under test holds this lock now: at the commit of a transaction, before an effect. It also
     * fails if there are several such clients: the hold of one would excuse the others.
     */
    public void assertHeld(String name) {
        processes.assertHeld(name);
    }

    /** As {@link #assertHeld(String)}, where the test has several clients. */
    public void assertHeld(LockClient client, String name) {
        TestProcesses.assertHeld(List.of(processes.of(client)), name);
    }

    /** Fails if a client under test holds this lock. */
    public void assertReleased(String name) {
        processes.assertReleased(name, grant -> grant.name().equals(name));
    }

    /** Fails if a client under test holds any lock. */
    public void assertAllReleased() {
        processes.assertReleased("every lock", grant -> true);
    }

    /** A piece of work that must never overlap, to be entered by the resources that the test gives to the code. */
    public Section section(String what) {
        return new Section(what);
    }

    /** Notes writes under a lock and their tokens. */
    public Writes writes(String name) {
        return new Writes(name, token -> {
            listeners.drain();
            return processes.all().stream().anyMatch(process -> process.holds(name, token));
        });
    }

    /** Closes all clients of the test. */
    @Override
    public void close() {
        storeBack();
        processes.close();
        listeners.close();
        time.close();
    }
}
