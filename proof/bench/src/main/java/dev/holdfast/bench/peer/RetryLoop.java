package dev.holdfast.bench.peer;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What callers write whose lock cannot wait: they ask again each millisecond. */
final class RetryLoop {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private RetryLoop() {}

    interface Attempt<X extends Exception> {
        boolean succeeds() throws X;
    }

    static <X extends Exception> void until(Attempt<X> attempt) throws X, InterruptedException {
        while (!attempt.succeeds()) {
            pause(PAUSE_NANOS);
        }
    }

    /** Asks at least once, and again until the patience has run out. */
    static <X extends Exception> boolean within(Duration patience, Attempt<X> attempt) throws X, InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (!attempt.succeeds()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            pause(Math.min(left, PAUSE_NANOS));
        }
        return true;
    }

    private static void pause(long nanos) throws InterruptedException {
        LockSupport.parkNanos(nanos);
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
