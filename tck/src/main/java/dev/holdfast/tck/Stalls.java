package dev.holdfast.tck;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when this process does not come to run: a hold that is lost then was lost rightly, and the case proves nothing.
 */
final class Stalls implements AutoCloseable {
    private static final long LOOK_EVERY_NANOS = 1_000_000;

    private final Thread watcher;
    private volatile long longest;

    private Stalls() {
        watcher = new Thread(this::run, "kit-stalls");
        watcher.setDaemon(true);
    }

    static Stalls watch() {
        Stalls stalls = new Stalls();
        stalls.watcher.start();
        return stalls;
    }

    /** Ends the attempt if the process stood still for longer than the case allows. */
    void throwIfLonger(Duration allowed) {
        if (longest > allowed.toNanos()) {
            throw new Rig.TooSlow();
        }
    }

    private void run() {
        long last = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
            long now = System.nanoTime();
            longest = Math.max(longest, now - last);
            last = now;
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }
}
