package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** How a thread acquires: re-entry first, then the queue, then waiting for the outcome. */
final class Acquisition {
    private Acquisition() {}

    /** Asks once; not interruptible, and leaves the interrupt flag as it is. */
    static Optional<HoldAnchor> once(Engine engine, LockName name, HoldOptions options, boolean threadOwned) {
        Reentry again = Reentry.of(engine, name, options, threadOwned);
        if (again != null) {
            return again.now();
        }
        Waiter waiter = Waiter.thread(options, false, threadOwned, engine.time().nanoTime());
        engine.submit(name, waiter);
        return finish(name, waiter.await(false));
    }

    /** Waits for as long as it takes, keeping the interrupt flag for later. */
    static HoldAnchor uninterruptibly(Engine engine, LockName name, HoldOptions options) {
        Reentry again = Reentry.of(engine, name, options, true);
        if (again != null) {
            return again.uninterruptibly();
        }
        Waiter waiter = Waiter.thread(options, true, true, engine.time().nanoTime());
        Events.@Nullable Wait event = begin();
        engine.submit(name, waiter);
        return end(event, name, finish(name, waiter.await(false))).orElseThrow(IllegalStateException::new);
    }

    /**
     * Waits until it is granted, the time has passed, or the thread is interrupted.
     *
     * @param wait how long; null for ever
     */
    static Optional<HoldAnchor> interruptibly(
            Engine engine, LockName name, HoldOptions options, boolean threadOwned, @Nullable Duration wait)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Reentry again = Reentry.of(engine, name, options, threadOwned);
        if (again != null) {
            return again.within(wait);
        }
        Waiter waiter = Waiter.thread(options, true, threadOwned, engine.time().nanoTime());
        Events.@Nullable Wait event = begin();
        LocalLock lock = engine.submit(name, waiter);
        Scheduled timeout = wait == null ? () -> {} : expireAfter(engine, lock, waiter, wait);
        Waiter.Outcome outcome = waiter.await(true);
        timeout.cancel();
        if (outcome == null) {
            if (waiter.resolve(Waiter.EMPTY)) {
                lock.forget(waiter);
                Thread.interrupted();
                throw new InterruptedException();
            }
            outcome = waiter.outcome(); // came in the same moment; the interrupt flag stays for the caller
        }
        return end(event, name, finish(name, outcome));
    }

    private static Scheduled expireAfter(Engine engine, LocalLock lock, Waiter waiter, Duration wait) {
        if (waiter.outcome() != null) {
            return () -> {};
        }
        return engine.time()
                .schedule(
                        () -> {
                            if (waiter.resolve(Waiter.EMPTY)) {
                                lock.forget(waiter);
                                waiter.wake();
                            }
                        },
                        wait);
    }

    private static Optional<HoldAnchor> finish(LockName name, Waiter.@Nullable Outcome outcome) {
        if (outcome instanceof Waiter.Outcome.Granted granted) {
            return Optional.of(granted.anchor());
        }
        if (outcome instanceof Waiter.Outcome.Failed failed) {
            throw Failures.here(failed.failure(), "could not acquire '" + name + "'");
        }
        return Optional.empty();
    }

    private static Events.@Nullable Wait begin() {
        if (!Events.areRecorded()) {
            return null;
        }
        Events.Wait event = new Events.Wait();
        event.begin();
        return event;
    }

    private static Optional<HoldAnchor> end(Events.@Nullable Wait event, LockName name, Optional<HoldAnchor> hold) {
        if (event != null && event.shouldCommit()) {
            event.lock = name.name();
            event.acquired = hold.isPresent();
            event.commit();
        }
        return hold;
    }
}
