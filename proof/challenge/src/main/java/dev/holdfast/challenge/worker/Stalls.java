package dev.holdfast.challenge.worker;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when this process does not come to run: a hold that is lost then was lost rightly. It keeps the last gaps between
 * two looks that were long. Thread-safe.
 */
public final class Stalls {
    private static final Duration LOOK = Duration.ofMillis(5);
    private static final Duration LONG = Duration.ofMillis(100);
    private static final int KEPT = 256;

    /** Of each gap, when it ended and how long it was. */
    private final AtomicLongArray ends = new AtomicLongArray(KEPT);

    private final AtomicLongArray lengths = new AtomicLongArray(KEPT);

    private volatile long last = System.nanoTime();

    /** Watches from now on. */
    public static Stalls watch() {
        Stalls stalls = new Stalls();
        Thread watcher = new Thread(stalls::run, "stalls");
        watcher.setDaemon(true);
        watcher.start();
        return stalls;
    }

    /** The longest gap that had not ended at that moment; what is shorter than 100 ms counts as none. */
    public long longestSince(long moment) {
        long open = System.nanoTime() - last; // of a process that only now goes on
        long longest = open > LONG.toNanos() ? open : 0;
        for (int i = 0; i < KEPT; i++) {
            long length = lengths.get(i);
            if (length != 0 && ends.get(i) - moment > 0) {
                longest = Math.max(longest, length);
            }
        }
        return longest;
    }

    private void run() {
        int next = 0;
        while (true) {
            LockSupport.parkNanos(LOOK.toNanos());
            long now = System.nanoTime();
            if (now - last > LONG.toNanos()) {
                ends.set(next, now);
                lengths.set(next, now - last);
                next = (next + 1) % KEPT;
            }
            last = now;
        }
    }
}
