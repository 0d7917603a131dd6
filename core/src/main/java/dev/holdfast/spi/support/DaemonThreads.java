package dev.holdfast.spi.support;

import java.time.Duration;

/**
 * Threads of a store that do not keep the process alive.
 *
 * <pre>{@code
 * Thread worker = DaemonThreads.daemon("holdfast-" + description, this::run);
 * worker.start();
 * …
 * DaemonThreads.awaitEnd(worker);                 // in close()
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class DaemonThreads {
    private static final Duration LONGEST_END = Duration.ofSeconds(10);

    private DaemonThreads() {}

    /** A thread that is not started yet and does not keep the process alive. */
    public static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Waits up to ten seconds for the end of a thread, unless it is the caller itself. An interrupt does not cut the wait
     * short, since what the thread has open would be left; it is set again afterwards.
     */
    public static void awaitEnd(Thread thread) {
        if (thread == Thread.currentThread()) {
            return;
        }
        boolean interrupted = false;
        long end = System.nanoTime() + LONGEST_END.toNanos();
        while (thread.isAlive() && end - System.nanoTime() > 0) {
            try {
                thread.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
