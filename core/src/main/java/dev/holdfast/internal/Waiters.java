package dev.holdfast.internal;

import dev.holdfast.LockEvent.NotAcquired;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The callers that wait in one queue, in order of arrival, and the ways in which a wait ends without a hold. Those are
 * called under the queue's mutex; the rest needs no mutex. Thread-safe.
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
    void refuse(Waiter asker, Effects then) {
        endEmpty(asker, NotAcquired.Reason.TAKEN, then);
    }

    /** A try without a grant: others have the lock, unless it was called off because the client is being closed. */
    void notGranted(Waiter asker, Effects then) {
        if (context.isClosed()) {
            fail(asker, context.closedException(), then);
        } else {
            refuse(asker, then);
        }
    }

    /** Its time has passed, and others have the lock. */
    void timedOut(Waiter waiter, Effects then) {
        endEmpty(waiter, NotAcquired.Reason.TIMED_OUT, then);
    }

    private void endEmpty(Waiter waiter, NotAcquired.Reason why, Effects then) {
        if (then.resolve(waiter, Waiter.EMPTY)) {
            context.telemetry().notAcquired(name, waiter, why);
        }
    }

    void fail(Waiter waiter, Throwable failure, Effects then) {
        if (then.resolve(waiter, new Waiter.Outcome.Failed(failure))) {
            context.telemetry().notAcquired(name, waiter, Telemetry.reason(failure));
        }
    }

    void failAll(Throwable failure, Effects then) {
        for (Waiter waiter = waiting.poll(); waiter != null; waiter = waiting.poll()) {
            fail(waiter, failure, then);
        }
    }

    /** Fails the callers without a time limit that have waited since then or longer. */
    void failSince(long nanos, Throwable why, Effects then) {
        for (Waiter waiter : List.copyOf(waiting)) {
            if (waitsSince(waiter, nanos) && waiting.remove(waiter)) {
                fail(waiter, why, then);
            }
        }
    }
}
