package dev.holdfast.tck.fuzz;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * How long this process stood still: a thread that naps for 20 ms and notes how much later it woke. Sessions end on a
 * machine that is too busy to keep them, which is no defect of a store. Thread-safe.
 */
final class Stalls implements AutoCloseable {
    private static final long NAP = 20_000_000;

    private final AtomicLong longest = new AtomicLong();
    private volatile boolean closed;

    Stalls() {
        Thread napping = new Thread(this::run, "fuzz-stalls");
        napping.setDaemon(true);
        napping.start();
    }

    private void run() {
        while (!closed) {
            long began = System.nanoTime();
            LockSupport.parkNanos(NAP);
            longest.accumulateAndGet(System.nanoTime() - began - NAP, Math::max);
        }
    }

    /** The longest standstill so far, in nanoseconds. */
    long longest() {
        return longest.get();
    }

    @Override
    public void close() {
        closed = true;
    }
}
