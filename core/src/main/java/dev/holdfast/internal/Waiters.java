package dev.holdfast.internal;

import static dev.holdfast.internal.Deferred.NOTHING;
import static dev.holdfast.internal.Deferred.all;

import dev.holdfast.LockEvent.NotAcquired;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The callers that wait in one queue, in order of arrival, and the ways in which a wait ends without a hold. Those are
 * called under the queue's mutex and return what is to be done after it; the rest needs no mutex. Thread-safe.
 */
final class Waiters {
    private final EngineContext context;
    private final LockName name;
    private final Queue<Waiter> waiting = new ConcurrentLinkedQueue<>();

    Waiters(EngineContext context, LockName name) {
        this.context = context;
        this.name = name;
    }

    void add(Waiter waiter) {
        waiting.add(waiter);
    }

    /** Removes a caller; false if it was served, or failed, at this moment. */
    boolean remove(Waiter waiter) {
        return waiting.remove(waiter);
    }

    /** The first caller; null if no caller waits. */
    @Nullable
    Waiter first() {
        return waiting.peek();
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Whether a caller without a time limit has waited since then or longer. */
    boolean anySince(long nanos) {
        return waiting.stream().anyMatch(waiter -> waitsSince(waiter, nanos));
    }

    private static boolean waitsSince(Waiter waiter, long nanos) {
        return !waiter.timed && waiter.since - nanos <= 0;
    }

    // ---- how a wait ends without a hold ----

    /** Others have the lock. */
    Runnable refuse(Waiter asker) {
        return endEmpty(asker, NotAcquired.Reason.TAKEN);
    }

    /** A try without a grant: others have the lock, unless it was called off because the client is being closed. */
    Runnable notGranted(Waiter asker) {
        return context.isClosed() ? fail(asker, context.closedException()) : refuse(asker);
    }

    /** Its time has passed, and others have the lock. */
    Runnable timedOut(Waiter waiter) {
        return endEmpty(waiter, NotAcquired.Reason.TIMED_OUT);
    }

    private Runnable endEmpty(Waiter waiter, NotAcquired.Reason why) {
        if (!waiter.resolve(Waiter.EMPTY)) {
            return NOTHING;
        }
        context.telemetry().notAcquired(name, waiter, why);
        return waiter::wake;
    }

    Runnable fail(Waiter waiter, Throwable failure) {
        if (!waiter.resolve(new Waiter.Outcome.Failed(failure))) {
            return NOTHING;
        }
        context.telemetry().notAcquired(name, waiter, Telemetry.reason(failure));
        return waiter::wake;
    }

    Runnable failAll(Throwable failure) {
        List<Runnable> wakes = new ArrayList<>();
        for (Waiter waiter = waiting.poll(); waiter != null; waiter = waiting.poll()) {
            wakes.add(fail(waiter, failure));
        }
        return all(wakes);
    }

    /** Fails the callers without a time limit that have waited since then or longer. */
    Runnable failSince(long nanos, Throwable why) {
        List<Runnable> wakes = new ArrayList<>();
        for (Waiter waiter : List.copyOf(waiting)) {
            if (waitsSince(waiter, nanos) && waiting.remove(waiter)) {
                wakes.add(fail(waiter, why));
            }
        }
        return all(wakes);
    }
}
