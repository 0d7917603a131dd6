package dev.holdfast.internal;

import dev.holdfast.LockMode;
import dev.holdfast.spi.TimeSource.Scheduled;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The cases in which a thread wants to write while a hold that it acquired reads.
 *
 * <p>A thread-bound hold can be closed by that thread alone, so the thread would wait for itself; and where two readers
 * wanted to write, each would wait for the other, for ever. Such a thread is refused immediately. As in
 * {@link java.util.concurrent.locks.ReentrantReadWriteLock} there is no such upgrade; a writer can become a reader
 * without letting another writer in between.
 *
 * <p>Any other hold may be closed by another thread, to which it may have been handed. The thread waits like any other,
 * and is warned about after a while.
 */
final class Upgrade {
    private Upgrade() {}

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
            throw new IllegalStateException("this thread acquired '" + name + "' on " + context.description()
                    + " to read and would wait for itself to write: close that hold first, or acquire to write and"
                    + " downgrade");
        }
    }

    /** Has a warning logged if the thread still waits after a while. */
    static void warn(EngineContext context, @Nullable HoldState reading, Waiter waiter) {
        if (reading != null) {
            SelfWait.watch(context, reading, waiter);
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
