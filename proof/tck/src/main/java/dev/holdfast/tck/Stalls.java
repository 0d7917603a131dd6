package dev.holdfast.tck;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when this process does not come to run, or the store: a hold that is lost then was lost rightly, and the case
 * proves nothing.
 */
final class Stalls implements AutoCloseable {
    /** Whoever is first in a line of SQLite has twice this long to take what has become free. */
    static final Duration OF_A_TURN = Duration.ofMillis(100);

    private static final long LOOK_EVERY_NANOS = 1_000_000;

    private final Thread watcher;
    private final AtomicLong longest = new AtomicLong();

    private Stalls() {
        watcher = new Thread(this::run, "kit-stalls");
        watcher.setDaemon(true);
    }

    static Stalls watch() {
        Stalls stalls = new Stalls();
        stalls.watcher.start();
        return stalls;
    }

    /** Writes to the store; for how long that takes, the store may have stood still. */
    void witness(Runnable write) {
        long began = System.nanoTime();
        write.run();
        longest.accumulateAndGet(System.nanoTime() - began, Math::max);
    }

    /** Ends the attempt if the process or the store stood still for longer than the case allows. */
    void throwIfLonger(Duration allowed) {
        if (longest.get() > allowed.toNanos()) {
            throw new Rig.TooSlow();
        }
    }

    private void run() {
        long last = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
            long now = System.nanoTime();
            longest.accumulateAndGet(now - last, Math::max);
            last = now;
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }
}
