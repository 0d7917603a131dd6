package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.Holder;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.LockMode;
import dev.holdfast.internal.Engine.Environment;
import dev.holdfast.memory.MemoryStore;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.Asked;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A lock of one client and its callers, on a store that answers on the calling thread, in time that stands still. */
final class LocalRace {
    static final HoldOptions OPTIONS = HoldOptions.defaults();

    private static final String[] AROUND_THE_QUEUE = Stream.of(
                    "memory.MemorySession",
                    "memory.MemoryStore",
                    "memory.MemoryLock",
                    "internal.StoreLink",
                    "internal.StoreOpening",
                    "internal.FlightEvents",
                    "internal.ClaimFactory",
                    "internal.LeaseRenewer",
                    "internal.GrantState",
                    "internal.HoldState",
                    "internal.Names",
                    "internal.Telemetry",
                    "internal.Tokens",
                    "internal.CallSite",
                    "internal.CallSite$Sample",
                    "internal.ReleaseSender",
                    "internal.EventDispatcher")
            .map("dev.holdfast."::concat)
            .toArray(String[]::new);

    final MemoryStore store;
    final Engine engine;
    final LockName lock;
    private final AtomicInteger ids = new AtomicInteger();

    LocalRace() {
        this(new StillTime());
    }

    LocalRace(TimeSource time) {
        store = new MemoryStore(time);
        CallSite.ofCaller(); // once before the race: the stack walker cannot be loaded in one
        engine = Engine.open(
                clock -> StoreOpening.of(store.open(), clock),
                new Environment(
                        time, Runnable::run, Runnable::run, CompletableFuture::join, LockSupport::park, this::nextId),
                "",
                "",
                List.of(),
                Duration.ofMinutes(1));
        lock = engine.name("a", Mode.EXCLUSIVE);
    }

    /** Runs two operations of a test against each other. */
    static void check(Class<?> operations, String one, String other) {
        Interleavings.race(operations, one, other, AROUND_THE_QUEUE);
    }

    /** The same for operations of which one answers the other's claim while that has the mutex: the store is gone through too. */
    static void checkWithStore(Class<?> operations, String one, String other) {
        String[] withoutStore = Stream.of(AROUND_THE_QUEUE)
                .filter(name -> !name.startsWith("dev.holdfast.memory."))
                .toArray(String[]::new);
        Interleavings.race(operations, one, other, withoutStore);
    }

    ClaimId nextId() {
        return new ClaimId(0, ids.incrementAndGet());
    }

    /** Another client has the lock, until this is run. */
    Runnable rival() {
        Store client = store.open();
        Claim claim = new Claim(
                nextId(), lock.inStore(), Mode.EXCLUSIVE, OPTIONS.lease(), true, 0, new Holder("host", 1, "rival", ""));
        Grant grant = Asked.of(client, claim).answer().join().orElseThrow();
        return () -> client.release(grant);
    }

    /** A caller who waits, not yet in any queue. */
    static Waiter caller() {
        return new Waiter(Mode.EXCLUSIVE, OPTIONS, null, false, null, 0, () -> {});
    }

    /** One who waits to read, not yet in any queue. */
    static Waiter reader() {
        return new Waiter(Mode.SHARED, OPTIONS, null, false, null, 0, () -> {});
    }

    /** Brings a caller to the queue of those who want the lock as it does. */
    void submit(Waiter caller) {
        engine.locks.submit(lock.as(caller.mode), caller);
    }

    /** A caller who waits in the queue of the lock, or has it by now. */
    Waiter queued() {
        Waiter caller = caller();
        engine.locks.submit(lock, caller);
        return caller;
    }

    /** Closes the hold of a caller who has it. */
    static void closeHoldOf(Waiter caller) {
        holdOf(caller).close(caller.mode.kind());
    }

    /** The hold of a caller who has it. */
    static HoldHandle holdOf(Waiter caller) {
        return (HoldHandle) caller.outcome();
    }

    /** Gives up waiting, as a caller whose time is over does; false if the outcome was there before. */
    boolean cancel(Waiter caller) {
        WaitQueue local = engine.locks.find(lock.inStore(), caller.mode.kind());
        boolean gaveUp = caller.resolve(Waiter.EMPTY);
        if (gaveUp) {
            local.forget(caller, NotAcquired.Reason.CANCELLED);
        }
        return gaveUp;
    }

    /** How a caller's wait ended; one who has the lock closes it. */
    static String end(Waiter caller) {
        Object outcome = caller.outcome();
        if (outcome instanceof HoldHandle) {
            closeHoldOf(caller);
            return "granted";
        }
        return outcome == null ? "forgotten" : outcome == Waiter.EMPTY ? "gave up" : "failed";
    }

    /** What is left when nobody wants the lock any more. */
    String left() {
        for (LockMode kind : LockMode.values()) {
            if (engine.locks.find(lock.inStore(), kind) != null) {
                return "not retired";
            }
        }
        return store.open().status(lock.inStore()).toCompletableFuture().join().isHeld()
                ? "still held"
                : "nothing left";
    }
}
