package dev.holdfast.internal;

import dev.holdfast.HoldOptions;
import dev.holdfast.spi.Mode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One caller who wants a lock: a parked thread or an asynchronous callback.
 *
 * <p>Its outcome is set once, by whoever is first: the grant, the time-out, the interrupt, the failure. A grant that
 * comes second finds the waiter gone and moves on to the next one, so that nothing is granted to nobody.
 */
final class Waiter implements Effects.Effect {

    /** The outcome without a hold: others have the lock, or the time passed, or the caller gave up. */
    static final Object EMPTY = new Object();

    /** How the name is wanted. */
    final Mode mode;

    final HoldOptions options;
    /** Whether to wait at all. */
    final boolean waits;
    /** Whether the caller waits for a time of its own, and so through any outage. */
    final boolean timed;
    /** Whether the hold is to be kept by its thread rather than by a reference: {@code asLock()}. */
    final boolean threadOwned;
    /** The thread that asks; null when asynchronous. */
    final @Nullable Thread thread;
    /** By {@link dev.holdfast.spi.TimeSource#nanoTime()}. */
    final long since;

    /** The event for the flight recorder, written at the end; written before it joins, read by the caller after its outcome. */
    FlightEvents.@Nullable Wait event;

    /** Where the caller asked, for reports. */
    CallSite site = CallSite.UNKNOWN;

    private final @Nullable Runnable callback;
    /** The {@link HoldHandle}, the Throwable of a failure, or {@link #EMPTY}: to set it takes no memory, so that it cannot fail. */
    private final AtomicReference<@Nullable Object> outcome = new AtomicReference<>();

    /**
     * A caller that is in no queue yet.
     *
     * @param wait how long it waits; null for ever, zero not at all
     * @param thread the one that asks, and will {@link #await}; null when asynchronous
     * @param callback runs when the outcome is there; null where a thread waits
     */
    Waiter(
            Mode mode,
            HoldOptions options,
            @Nullable Duration wait,
            boolean threadOwned,
            @Nullable Thread thread,
            long since,
            @Nullable Runnable callback) {
        this.mode = mode;
        this.options = options;
        this.waits = wait == null || !wait.isZero();
        this.timed = wait != null;
        this.threadOwned = threadOwned;
        this.thread = thread;
        this.since = since;
        this.callback = callback;
    }

    /** Sets the outcome, without waking; false if it was set before. */
    boolean resolve(Object value) {
        return outcome.compareAndSet(null, value);
    }

    /** Wakes whoever waits, once the outcome is set. */
    @Override
    public void run() {
        if (thread != null) {
            LockSupport.unpark(thread);
        } else if (callback != null) {
            callback.run();
        }
    }

    @Nullable
    Object outcome() {
        return outcome.get();
    }

    /** Has the calling thread park until there is an outcome; false if, where that counts, it is interrupted first. */
    boolean await(boolean interruptible, Consumer<Object> park) {
        boolean interrupted = false;
        while (outcome.get() == null) {
            park.accept(this);
            if (outcome.get() == null && Thread.interrupted()) {
                if (interruptible) {
                    Thread.currentThread().interrupt();
                    return false;
                }
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return true;
    }
}
