package dev.holdfast.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets an exit of the JVM that others begin wait until this process has released what it holds.
 *
 * <p>A signal that comes immediately before our handlers are installed is still handled by the JVM's own, which ends the
 * process on a thread of its own while the main thread goes on. Without this class, the main thread acquires the lock
 * during the exit, and nobody releases it: it stays held until its lease has expired. Two moments are possible. Either
 * the exit has begun when the delay is asked for: then the calling thread stops here for ever, with nothing held. Or it
 * begins later: then the exit asks the main thread to end, and waits for it.
 *
 * <p>Thread-safe.
 */
final class ExitDelay implements AutoCloseable {
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook;

    private ExitDelay(Runnable askToEnd) {
        hook = new Thread(
                () -> {
                    askToEnd.run();
                    awaitEnd();
                },
                "holdfast-exit-delay");
    }

    /**
     * From now on, until {@link #close}, an exit waits. Does not return when the process is already exiting.
     *
     * @param askToEnd called once, on a thread of its own, when an exit begins; the caller then closes this soon
     */
    static ExitDelay begin(Runnable askToEnd) {
        ExitDelay delay = new ExitDelay(askToEnd);
        try {
            Runtime.getRuntime().addShutdownHook(delay.hook);
        } catch (IllegalStateException e) { // the JVM's word for an exit that has begun
            awaitHalt();
        }
        return delay;
    }

    /** Nothing is held any more: the process may end. */
    @Override
    public void close() {
        ended.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // It is running, and ends now.
        }
    }

    private void awaitEnd() {
        while (ended.getCount() > 0) {
            try {
                ended.await();
            } catch (InterruptedException e) {
                // Nobody interrupts the threads of an exit; if somebody does, what is held is still to be released.
            }
        }
    }

    private static void awaitHalt() {
        while (true) {
            LockSupport.park();
        }
    }
}
