package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How one name is acquired, by threads or by futures.
 *
 * <p>A thread enters again what it has, where that is asked for; otherwise it goes into the queue, and parks until its wait has
 * an outcome.
 *
 * <p>A future has no thread, and so enters nothing again. It completes on the client's executor and, unless that is the
 * executor's choice, never on the thread that released the lock. A chain of callers that close in their own callbacks does not
 * grow one stack. Immutable and thread-safe.
 */
public final class Acquisition {
    private final Engine engine;
    private final LockName name;
    private final HoldOptions options;
    private final boolean threadOwned;

    /** @param threadOwned whether a hold is kept by its thread rather than by a reference: {@code asLock()} */
    Acquisition(Engine engine, LockName name, HoldOptions options, boolean threadOwned) {
        this.engine = engine;
        this.name = name;
        this.options = options;
        this.threadOwned = threadOwned;
    }

    /** Waits until it is granted, or the thread is interrupted. */
    public HoldHandle acquire() throws InterruptedException {
        return acquire(null).orElseThrow(IllegalStateException::new);
    }

    /** Asks once; not interruptible, and leaves the interrupt flag as it is. */
    public Optional<HoldHandle> tryAcquire() {
        return attempt().get();
    }

    /** Waits for a time, or until the thread is interrupted; asks once if it is zero. Null is for ever. */
    public Optional<HoldHandle> acquire(@Nullable Duration wait) throws InterruptedException {
        Durations.checkWait(wait);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return wait != null && wait.isZero() ? tryAcquire() : await(wait, true);
    }

    /** Waits for as long as it takes, keeping the interrupt flag for later. */
    void acquireUninterruptibly() {
        try {
            await(null, false);
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    // ---- by a thread ----

    /** Sends a request to ask once, and does not wait for its answer: what is returned does, once. */
    Supplier<Optional<HoldHandle>> attempt() {
        OwnHold again = toEnterAgain();
        if (again != null) {
            return again::now;
        }
        HoldState reading = OwnHold.heldToRead(engine, name);
        if (reading != null && reading.isThreadBound()) {
            return Optional::empty; // no other thread can close that hold
        }
        Waiter waiter = ofThisThread(Duration.ZERO);
        engine.locks.submit(name, waiter);
        return () -> {
            waiter.await(false, engine.environment.parking());
            return finish(waiter);
        };
    }

    private @Nullable OwnHold toEnterAgain() {
        return options.reentrant() ? OwnHold.toEnter(engine, name, threadOwned) : null;
    }

    private Waiter ofThisThread(@Nullable Duration wait) {
        return new Waiter(
                name.mode(), options, wait, threadOwned, Thread.currentThread(), engine.time.nanoTime(), null);
    }

    private Optional<HoldHandle> await(@Nullable Duration wait, boolean interruptible) throws InterruptedException {
        OwnHold again = toEnterAgain();
        if (again != null) {
            return again.within(name, wait, interruptible);
        }
        HoldState reading = OwnHold.heldToRead(engine, name);
        if (reading != null && reading.isThreadBound()) { // it would wait for itself
            Duration left = OwnHold.waitInVain(reading, threadOwned ? wait : null);
            return left.isZero() ? Optional.empty() : acquire(left);
        }
        Waiter waiter = ofThisThread(wait);
        WaitQueue lock = engine.locks.submit(name, waiter);
        boolean ended;
        try {
            if (reading != null) {
                OwnHold.watch(reading, waiter);
            }
            Scheduled timeout = expireAfter(lock, waiter, wait);
            ended = waiter.await(interruptible, engine.environment.parking());
            timeout.cancel();
        } catch (Throwable broken) { // for example, no thread for the time-out
            lock.abandon(waiter);
            throw broken;
        }
        if (!ended
                && waiter.resolve(
                        Waiter.EMPTY)) { // else it came in the same moment; the interrupt flag stays for the caller
            lock.forget(waiter, NotAcquired.Reason.INTERRUPTED);
            engine.telemetry.recordWait(name, waiter, NotAcquired.Reason.INTERRUPTED);
            Thread.interrupted();
            throw new InterruptedException();
        }
        return finish(waiter);
    }

    /**
     * Plans the end of a timed wait, which began with the call: joining the queue may have taken a while. If its time passes
     * meanwhile, as when a test moves it, the wait ends at once.
     */
    private Scheduled expireAfter(WaitQueue lock, Waiter waiter, @Nullable Duration wait) {
        if (wait == null || wait.isZero() || waiter.outcome() != null) {
            return () -> {};
        }
        Scheduled timeout =
                engine.time.schedule(() -> lock.timeOut(waiter), Durations.left(wait, waiter.since, engine.time));
        if (Durations.left(wait, waiter.since, engine.time).isZero()) {
            lock.timeOut(waiter);
        }
        return timeout;
    }

    private Optional<HoldHandle> finish(Waiter waiter) {
        engine.telemetry.recordWait(name, waiter, NotAcquired.Reason.TIMED_OUT);
        Object outcome = waiter.outcome();
        if (outcome instanceof Throwable failure) {
            throw Failures.here(failure, "could not acquire '" + name + "'");
        }
        return outcome instanceof HoldHandle granted ? Optional.of(granted) : Optional.empty();
    }

    // ---- by a future ----

    /**
     * Acquires without a thread, waiting as long as it takes.
     *
     * @param giveBack what happens to a hold that arrives when the future is already complete
     */
    public <H> CompletableFuture<H> acquireAsync(Function<HoldHandle, H> wrap, Consumer<H> giveBack) {
        return acquireAsync(engine.completing(), wrap, giveBack);
    }

    /** The same; the future completes on an executor of its own. */
    public <H> CompletableFuture<H> acquireAsync(
            Executor completing, Function<HoldHandle, H> wrap, Consumer<H> giveBack) {
        return start(null, completing, got -> wrap.apply(got.orElseThrow()), giveBack);
    }

    /** Acquires without a thread, waiting for a time; asks once if it is zero. */
    public <H> CompletableFuture<Optional<H>> tryAcquireAsync(
            Duration wait, Function<HoldHandle, H> wrap, Consumer<H> giveBack) {
        Durations.checkWait(wait);
        return start(wait, engine.completing(), got -> got.map(wrap), hold -> hold.ifPresent(giveBack));
    }

    /** The same for what is acquired together with others; null is for ever. */
    CompletableFuture<Optional<HoldHandle>> start(@Nullable Duration wait) {
        return start(wait, engine.completing(), got -> got, got -> got.ifPresent(HoldHandle::giveBack));
    }

    private <R> CompletableFuture<R> start(
            @Nullable Duration wait,
            Executor completing,
            Function<Optional<HoldHandle>, R> result,
            Consumer<R> giveBack) {
        refuseThreads(options);
        return new InFuture<>(wait, completing, result, giveBack).submit(wait);
    }

    static void refuseThreads(HoldOptions options) {
        if (options.reentrant()) {
            throw new IllegalStateException("re-entrant holds belong to threads; a future has none");
        }
    }

    /**
     * One future that acquires.
     *
     * @param <R> what it completes with: a hold or, within a time, perhaps none
     */
    private final class InFuture<R> {
        private final Function<Optional<HoldHandle>, R> result;
        private final Consumer<R> giveBack;
        private final Waiter waiter;
        private final CompletableFuture<R> future = new CompletableFuture<>();
        private final AtomicBoolean completing = new AtomicBoolean();

        InFuture(
                @Nullable Duration wait,
                Executor executor,
                Function<Optional<HoldHandle>, R> result,
                Consumer<R> giveBack) {
            this.result = result;
            this.giveBack = giveBack;
            Runnable resolved = () -> engine.completionThreads.execute(executor, this::complete);
            this.waiter = new Waiter(name.mode(), options, wait, false, null, engine.time.nanoTime(), resolved);
        }

        CompletableFuture<R> submit(@Nullable Duration wait) {
            WaitQueue lock = engine.locks.submit(name, waiter);
            try {
                Scheduled timeout = expireAfter(lock, waiter, wait);
                future.whenComplete((hold, failure) -> {
                    timeout.cancel();
                    if (waiter.resolve(Waiter.EMPTY)) {
                        lock.forget(waiter, NotAcquired.Reason.CANCELLED); // or timed out, or completed, by the caller
                        engine.telemetry.recordWait(name, waiter, NotAcquired.Reason.CANCELLED);
                    }
                });
            } catch (Throwable broken) { // for example, no thread for the time-out
                lock.abandon(waiter);
                throw broken;
            }
            return future;
        }

        private void complete() {
            if (!completing.compareAndSet(false, true)) {
                return; // the executor ran it before it threw
            }
            try {
                R hold = result.apply(finish(waiter));
                if (!future.complete(hold)) {
                    giveBack.accept(hold);
                }
            } catch (Throwable failed) { // also an Error: no caller gets a hold
                future.completeExceptionally(failed);
                if (future.isCompletedExceptionally() && waiter.outcome() instanceof HoldHandle granted) {
                    granted.giveBack();
                }
            }
        }
    }
}
