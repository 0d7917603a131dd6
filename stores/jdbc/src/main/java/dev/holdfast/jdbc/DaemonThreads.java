package dev.holdfast.jdbc;

import java.time.Duration;

/** The little that the store's two threads share. */
final class DaemonThreads {
    private static final Duration LONGEST_END = Duration.ofSeconds(10);

    private DaemonThreads() {}

    /** A thread that does not keep the process alive. */
    static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Waits for the end of a thread, unless it is the caller itself. An interrupt does not cut the wait short, since what
     * the thread has open would be left; a disk that hangs does.
     */
    static void awaitEnd(Thread thread) {
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
