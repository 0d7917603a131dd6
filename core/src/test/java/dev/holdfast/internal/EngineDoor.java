package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockMode;
import dev.holdfast.Loss;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** What the simulation, which lives in a package of its own, needs of the engine beyond its public methods. */
public final class EngineDoor {
    private EngineDoor() {}

    /** Tries once, as {@link Acquisition#tryAcquire()}, without a thread that waits for the store. */
    public static CompletableFuture<Optional<HoldHandle>> tryAcquire(
            Engine engine, LockName name, HoldOptions options, Executor executor) {
        return submit(engine, name, options, Duration.ZERO, executor);
    }

    /** Waits for a time, as {@link Acquisition#acquire(Duration)}, without a thread. */
    public static CompletableFuture<Optional<HoldHandle>> tryAcquire(
            Engine engine, LockName name, HoldOptions options, Duration wait, Executor executor) {
        return submit(engine, name, options, wait, executor);
    }

    private static CompletableFuture<Optional<HoldHandle>> submit(
            Engine engine, LockName name, HoldOptions options, Duration wait, Executor executor) {
        CompletableFuture<Optional<HoldHandle>> future = new CompletableFuture<>();
        Waiter[] waiter = new Waiter[1];
        waiter[0] = new Waiter(
                name.mode(),
                options,
                wait,
                false,
                null,
                engine.time.nanoTime(),
                () -> executor.execute(() -> complete(future, waiter[0].outcome())));
        WaitQueue queue = engine.locks.submit(name, waiter[0]);
        if (waiter[0].waits) {
            Scheduled timeout = engine.time.schedule(() -> queue.timeOut(waiter[0]), wait);
            future.whenComplete((anchor, failure) -> timeout.cancel());
        }
        return future;
    }

    private static void complete(CompletableFuture<Optional<HoldHandle>> future, Object outcome) {
        if (outcome instanceof HoldHandle granted) {
            future.complete(Optional.of(granted));
        } else if (outcome instanceof Throwable failure) {
            future.completeExceptionally(Failures.here(failure, "could not try"));
        } else {
            future.complete(Optional.empty());
        }
    }

    /**
     * Acquires with a thread that may enter what it holds again.
     *
     * @param threadOwned whether as {@link JavaLock} does
     * @param wait how long to wait; zero tries once
     */
    public static Optional<HoldHandle> enter(
            Engine engine, LockName name, HoldOptions options, boolean threadOwned, Duration wait)
            throws InterruptedException {
        Acquisition acquisition = new Acquisition(engine, name, options, threadOwned);
        return wait.isZero() ? acquisition.tryAcquire() : acquisition.acquire(wait);
    }

    /** Has the collector find that nobody refers to a hold any more. */
    public static void drop(HoldHandle anchor) {
        anchor.hold.enqueue();
    }

    /** Whether the calling thread holds a mutex of the engine's locks. */
    public static boolean holdsMutex(Engine engine) {
        return engine.locks.all().anyMatch(lock -> lock.mutex.isHeldByCurrentThread());
    }

    /** The number of the grant that a token belongs to. */
    public static long number(long token) {
        return Tokens.number(token);
    }

    /** The first half of {@link Engine#close()}. */
    public static boolean beginClose(Engine engine) {
        return engine.beginClose();
    }

    /** What {@link Engine#close()} waits for between its halves; also: whether an engine remembers no lock at all. */
    public static boolean isQuiet(Engine engine) {
        return engine.isQuiet();
    }

    /** The second half of {@link Engine#close()}. */
    public static void endClose(Engine engine) {
        engine.endClose();
    }

    /** Looks at a hold without touching it. */
    public static Sight sight(HoldHandle anchor) {
        return new Sight(anchor.hold);
    }

    /** A hold, seen without the consequences that {@link HoldHandle#isValid()} has for one that ran out. */
    public static final class Sight {
        private final HoldState hold;

        private Sight(HoldState hold) {
            this.hold = hold;
        }

        /** What {@link HoldHandle#isValid()} would say. */
        public boolean isValid() {
            return hold.isOpen() && hold.grant.isValid();
        }

        /** In doubt: invalid, but may be confirmed. */
        public boolean isSuspect() {
            return hold.isOpen() && hold.grant.isSuspect();
        }

        /** Open, and its deadline has not passed: valid, or in doubt. */
        public boolean isWithinLease() {
            return hold.isOpen() && hold.grant.isOpen() && !hold.grant.hasRunOut();
        }

        /** Whether it stands beside other readers, by now. */
        public boolean isReading() {
            return hold.grant.owner.name.mode().kind() == LockMode.SHARED;
        }

        /** Ended otherwise than by its close. */
        public boolean isLost() {
            return hold.isLost();
        }

        /** How it was lost, if it was. */
        public Loss loss() {
            return hold.loss();
        }

        /** When it was given, by its client's {@code nanoTime}. */
        public long since() {
            return hold.since;
        }

        /** What is left of its lease, in nanoseconds. */
        public long remaining() {
            return hold.grant.remaining();
        }

        /** The lease of its grant at present, in nanoseconds. */
        public long lease() {
            return hold.grant.grant().lease().toNanos();
        }

        /** Whether an extension would have to wait for a request under way. */
        public boolean isBeingRenewed() {
            boolean free = hold.grant.beginRenewal();
            if (free) {
                hold.grant.endRenewal(true);
            }
            return !free;
        }
    }
}
