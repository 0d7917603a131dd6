package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for a lock that it holds itself, or would. Any other thread may close that hold, to which it may have been
 * handed; so the thread waits as any other, and is warned of in the log after a while.
 *
 * <p>A thread-bound hold can be closed by that thread alone. Where it reads and wants to write, it would wait for itself; and of two
 * readers that wanted to write, each would wait for the other, for ever. Such a thread is refused immediately. As in
 * {@link java.util.concurrent.locks.ReentrantReadWriteLock} there is no such upgrade; a writer can become a reader without letting
 * another writer in between.
 */
final class SelfWait {
    private static final Duration WARN_AFTER = Duration.ofSeconds(3);

    private SelfWait() {}

    /** As {@link #watch}, if one of these holds is of the thread that waits. */
    static void watchIfItsOwn(EngineContext context, Stream<HoldState> holds, Waiter waiter) {
        Thread thread = waiter.thread;
        if (thread != null) {
            holds.filter(held -> held.isOwnedBy(thread)).findFirst().ifPresent(held -> watch(context, held, waiter));
        }
    }

    /** Warns, if a thread still waits after a while for a lock that it holds itself. On that thread. */
    static void watch(EngineContext context, HoldState held, Waiter waiter) {
        if (waiter.site == CallSite.UNKNOWN) {
            waiter.site = new CallSite();
        }
        waiter.site.record();
        context.time.schedule(
                () -> {
                    if (held.isOpen() && waiter.outcome() == null) {
                        context.callSites.recordEach();
                        Log.warn(() -> message(held, waiter, context.store.description()));
                    }
                },
                WARN_AFTER);
    }

    private static String message(HoldState held, Waiter waiter, String store) {
        Thread thread = waiter.thread;
        boolean reads = held.grant.owner().name.mode().kind() == LockMode.SHARED;
        return "thread '" + (thread == null ? "?" : thread.getName()) + "' waits for '" + held.name() + "' on " + store
                + " " + waiter.site.text() + " while it holds it itself, acquired " + held.origin()
                + ": it waits for ever unless another thread closes that hold; "
                + (reads ? "close it before waiting" : "use reentrant(true) or asLock()");
    }

    // ---- one that reads and wants to write ----

    /** The open hold by which the calling thread reads a name that it wants exclusively; null if it has none. */
    static @Nullable HoldState heldToRead(EngineContext context, LockName name) {
        return name.mode().kind() == LockMode.EXCLUSIVE
                        && context.locks.find(name.inStore(), LockMode.SHARED) instanceof SharedQueue readers
                ? readers.heldBy(Thread.currentThread())
                : null;
    }

    /** Whether the calling thread alone can close the hold that is in its way. */
    static boolean isHopeless(@Nullable HoldState reading) {
        return reading != null && reading.isThreadBound();
    }

    /** Throws if the calling thread would wait for itself. */
    static void refuse(EngineContext context, LockName name, @Nullable HoldState reading) {
        if (reading != null && reading.isThreadBound()) {
            throw new IllegalStateException("this thread acquired '" + name + "' on " + context.store.description()
                    + " to read and would wait for itself to write: close that hold first, or acquire to write and"
                    + " downgrade");
        }
    }

    /** Has a warning logged if the thread still waits after a while. */
    static void warn(EngineContext context, @Nullable HoldState reading, Waiter waiter) {
        if (reading != null) {
            watch(context, reading, waiter);
        }
    }

    /**
     * Waits for a time without a place in the queue, as a thread does that would wait for itself: until the time has
     * passed, the client is closed, or the hold is lost.
     *
     * @return how much of the time is left, in nanoseconds; 0 when it has passed
     */
    static long waitInVain(EngineContext context, LockName name, HoldState reading, Duration wait)
            throws InterruptedException {
        Thread thread = Thread.currentThread();
        long since = context.time.nanoTime();
        Scheduled end = context.time.schedule(() -> LockSupport.unpark(thread), wait);
        reading.awaitsNews(true);
        try {
            while (true) {
                long left = Durations.nanos(wait) - (context.time.nanoTime() - since);
                context.throwIfClosed();
                if (left <= 0 || !reading.isOpen()) {
                    return Math.max(0, left);
                }
                context.environment.parking().accept(name);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        } finally {
            reading.awaitsNews(false);
            end.cancel();
        }
    }
}
