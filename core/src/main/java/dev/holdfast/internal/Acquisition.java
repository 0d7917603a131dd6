package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.LockEvent.NotAcquired;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a thread acquires: re-entry first, then the queue, then waiting for the outcome. */
final class Acquisition {
    private Acquisition() {}

    /** A try under way. */
    interface Attempt {
        /** Waits for the store's answer; called once. */
        Optional<HoldHandle> outcome();
    }

    /** Asks once; not interruptible, and leaves the interrupt flag as it is. */
    static Optional<HoldHandle> once(EngineContext context, LockName name, HoldOptions options, boolean threadOwned) {
        return attempt(context, name, options, threadOwned).outcome();
    }

    /** Sends a request to ask once, and does not wait for its answer. */
    static Attempt attempt(EngineContext context, LockName name, HoldOptions options, boolean threadOwned) {
        Reentry again = Reentry.of(context, name, options, threadOwned);
        if (again != null) {
            return again::now;
        }
        if (SelfWait.isHopeless(SelfWait.heldToRead(context, name))) {
            return Optional::empty;
        }
        Waiter waiter = Waiter.thread(name.mode(), options, false, threadOwned, context.time.nanoTime());
        context.locks.submit(name, waiter);
        return () -> finish(context, name, waiter, waiter.await(false, context.environment.parking()));
    }

    /** Waits for as long as it takes, keeping the interrupt flag for later. */
    static HoldHandle uninterruptibly(EngineContext context, LockName name, HoldOptions options) {
        try {
            return await(context, name, options, true, null, false).orElseThrow(IllegalStateException::new);
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Waits until it is granted, the time has passed, or the thread is interrupted.
     *
     * @param wait how long; null for ever
     */
    static Optional<HoldHandle> interruptibly(
            EngineContext context, LockName name, HoldOptions options, boolean threadOwned, @Nullable Duration wait)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return await(context, name, options, threadOwned, wait, true);
    }

    private static Optional<HoldHandle> await(
            EngineContext context,
            LockName name,
            HoldOptions options,
            boolean threadOwned,
            @Nullable Duration wait,
            boolean interruptible)
            throws InterruptedException {
        Reentry again = Reentry.of(context, name, options, threadOwned);
        if (again != null) {
            return again.within(name, wait, interruptible);
        }
        HoldState reading = SelfWait.heldToRead(context, name);
        if (threadOwned && wait != null && reading != null && SelfWait.isHopeless(reading)) {
            long left = SelfWait.waitInVain(context, name, reading, wait);
            return left == 0
                    ? Optional.empty()
                    : interruptibly(context, name, options, threadOwned, Duration.ofNanos(left));
        }
        SelfWait.refuse(context, name, reading);
        Waiter waiter = Waiter.thread(name.mode(), options, true, threadOwned, context.time.nanoTime());
        waiter.timed = wait != null;
        WaitQueue lock = context.locks.submit(name, waiter);
        Waiter.Outcome outcome;
        try {
            SelfWait.warn(context, reading, waiter);
            Scheduled timeout = wait == null ? () -> {} : expireAfter(context, lock, waiter, wait);
            outcome = waiter.await(interruptible, context.environment.parking());
            timeout.cancel();
        } catch (Throwable broken) { // for example, no thread for the time-out
            lock.abandon(waiter);
            throw broken;
        }
        if (outcome == null) {
            if (waiter.resolve(Waiter.EMPTY)) {
                lock.forget(waiter, NotAcquired.Reason.INTERRUPTED);
                context.telemetry.recordWait(name, waiter, NotAcquired.Reason.INTERRUPTED);
                Thread.interrupted();
                throw new InterruptedException();
            }
            outcome = waiter.outcome(); // came in the same moment; the interrupt flag stays for the caller
        }
        return finish(context, name, waiter, outcome);
    }

    /**
     * Plans the end of a timed wait, which began with the call: joining the queue may have taken a while. If its time passes
     * meanwhile, as when a test moves it, the wait ends at once.
     */
    static Scheduled expireAfter(EngineContext context, WaitQueue lock, Waiter waiter, Duration wait) {
        if (waiter.outcome() != null) {
            return () -> {};
        }
        Scheduled timeout =
                context.time.schedule(() -> lock.timeOut(waiter), Durations.left(wait, waiter.since, context.time));
        if (Durations.left(wait, waiter.since, context.time).isZero()) {
            lock.timeOut(waiter);
        }
        return timeout;
    }

    private static Optional<HoldHandle> finish(
            EngineContext context, LockName name, Waiter waiter, Waiter.@Nullable Outcome outcome) {
        Telemetry telemetry = context.telemetry;
        if (outcome instanceof Waiter.Outcome.Granted granted) {
            telemetry.recordWait(name, waiter, granted.anchor());
            return Optional.of(granted.anchor());
        }
        if (outcome instanceof Waiter.Outcome.Failed failed) {
            telemetry.recordWait(name, waiter, Telemetry.reason(failed.failure()));
            throw Failures.here(failed.failure(), "could not acquire '" + name + "'");
        }
        telemetry.recordWait(name, waiter, NotAcquired.Reason.TIMED_OUT);
        return Optional.empty();
    }
}
