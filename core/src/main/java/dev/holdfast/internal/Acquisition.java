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
    static Optional<HoldHandle> once(Engine engine, LockName name, HoldOptions options, boolean threadOwned) {
        return attempt(engine, name, options, threadOwned).outcome();
    }

    /** Sends a request to ask once, and does not wait for its answer. */
    static Attempt attempt(Engine engine, LockName name, HoldOptions options, boolean threadOwned) {
        Reentry again = Reentry.of(engine, name, options, threadOwned);
        if (again != null) {
            return again::now;
        }
        if (Upgrade.isHopeless(Upgrade.heldToRead(engine, name))) {
            return Optional::empty;
        }
        Waiter waiter = Waiter.thread(
                name.mode(), options, false, threadOwned, engine.time().nanoTime());
        engine.submit(name, waiter);
        return () -> finish(engine, name, waiter, waiter.await(false, engine.parking()));
    }

    /** Waits for as long as it takes, keeping the interrupt flag for later. */
    static HoldHandle uninterruptibly(Engine engine, LockName name, HoldOptions options) {
        Reentry again = Reentry.of(engine, name, options, true);
        if (again != null) {
            return again.uninterruptibly();
        }
        HoldState reading = Upgrade.heldToRead(engine, name);
        Upgrade.refuse(engine, name, reading);
        Waiter waiter =
                Waiter.thread(name.mode(), options, true, true, engine.time().nanoTime());
        engine.submit(name, waiter);
        Upgrade.warn(engine, reading, waiter);
        return finish(engine, name, waiter, waiter.await(false, engine.parking()))
                .orElseThrow(IllegalStateException::new);
    }

    /**
     * Waits until it is granted, the time has passed, or the thread is interrupted.
     *
     * @param wait how long; null for ever
     */
    static Optional<HoldHandle> interruptibly(
            Engine engine, LockName name, HoldOptions options, boolean threadOwned, @Nullable Duration wait)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Reentry again = Reentry.of(engine, name, options, threadOwned);
        if (again != null) {
            return again.within(name, wait);
        }
        HoldState reading = Upgrade.heldToRead(engine, name);
        if (threadOwned && wait != null && reading != null && Upgrade.isHopeless(reading)) {
            long left = Upgrade.waitInVain(engine, name, reading, wait);
            return left == 0
                    ? Optional.empty()
                    : interruptibly(engine, name, options, threadOwned, Duration.ofNanos(left));
        }
        Upgrade.refuse(engine, name, reading);
        Waiter waiter = Waiter.thread(
                name.mode(), options, true, threadOwned, engine.time().nanoTime());
        waiter.timed = wait != null;
        WaitQueue lock = engine.submit(name, waiter);
        Upgrade.warn(engine, reading, waiter);
        Scheduled timeout = wait == null ? () -> {} : expireAfter(engine, lock, waiter, wait);
        Waiter.Outcome outcome = waiter.await(true, engine.parking());
        timeout.cancel();
        if (outcome == null) {
            if (waiter.resolve(Waiter.EMPTY)) {
                lock.forget(waiter, NotAcquired.Reason.INTERRUPTED);
                engine.telemetry().recordWait(name, waiter, NotAcquired.Reason.INTERRUPTED);
                Thread.interrupted();
                throw new InterruptedException();
            }
            outcome = waiter.outcome(); // came in the same moment; the interrupt flag stays for the caller
        }
        return finish(engine, name, waiter, outcome);
    }

    private static Scheduled expireAfter(Engine engine, WaitQueue lock, Waiter waiter, Duration wait) {
        if (waiter.outcome() != null) {
            return () -> {};
        }
        return engine.time().schedule(() -> lock.timeOut(waiter), wait);
    }

    private static Optional<HoldHandle> finish(
            Engine engine, LockName name, Waiter waiter, Waiter.@Nullable Outcome outcome) {
        Telemetry telemetry = engine.telemetry();
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
