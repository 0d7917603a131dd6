package dev.holdfast.testbed;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when this process does not come to run: a hold that is lost then was lost rightly, and what is late proves nothing.
 * A thread looks every 5 ms, and a gap between two looks is kept until a longer one follows. Thread-safe.
 */
public final class Stalls implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMillis(5);
    private static final long LATE = 2 * LOOK.toNanos();

    private final Thread watcher = new Thread(this::run, "stalls");
    /** Each is shorter than the one before. */
    private final Deque<Gap> gaps = new ArrayDeque<>();

    private final long began = System.nanoTime();
    private long last = began;
    private long late;

    private record Gap(long ended, long length) {}

    private Stalls() {}

    /** Watches from now on. */
    public static Stalls watch() {
        Stalls stalls = new Stalls();
        stalls.watcher.setDaemon(true);
        stalls.watcher.start();
        return stalls;
    }

    /** Writes to a store; for how long that takes, the store may have stood still. */
    public void witness(Runnable write) {
        long before = System.nanoTime();
        write.run();
        addSince(before);
    }

    /** The longest gap so far, in nanoseconds. */
    public long longest() {
        return longestSince(began);
    }

    /** The longest gap that had not ended at that moment, in nanoseconds. */
    public synchronized long longestSince(long moment) {
        long open = System.nanoTime() - last; // of a process that only now goes on
        return gaps.stream()
                .filter(gap -> gap.ended() - moment > 0)
                .findFirst()
                .map(gap -> Math.max(open, gap.length()))
                .orElse(open);
    }

    /**
     * The sum of all gaps so far that were longer than twice the time between looks, in nanoseconds. Beside very much other
     * work no gap is long, and yet what takes several steps takes many times as long.
     */
    public synchronized long late() {
        return late + lateBy(System.nanoTime() - last);
    }

    private static long lateBy(long gap) {
        return gap > LATE ? gap : 0;
    }

    private synchronized long addSince(long before) {
        long now = System.nanoTime();
        while (!gaps.isEmpty() && gaps.getLast().length() <= now - before) {
            gaps.removeLast();
        }
        gaps.add(new Gap(now, now - before));
        return now;
    }

    private synchronized void look() {
        long before = last;
        last = addSince(before);
        late += lateBy(last - before);
    }

    private void run() {
        while (!Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(LOOK.toNanos());
            look();
        }
    }

    @Override
    public void close() {
        watcher.interrupt();
    }
}
