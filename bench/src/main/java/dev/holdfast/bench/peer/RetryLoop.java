package dev.holdfast.bench.peer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** What callers write who have no lock that waits: ask again each millisecond. */
final class RetryLoop {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private RetryLoop() {}

    interface Attempt<X extends Exception> {
        boolean succeeds() throws X;
    }

    static <X extends Exception> void until(Attempt<X> attempt) throws X, InterruptedException {
        while (!attempt.succeeds()) {
            LockSupport.parkNanos(PAUSE_NANOS);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }
}
