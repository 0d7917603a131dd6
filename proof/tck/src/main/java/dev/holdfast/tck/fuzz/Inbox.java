package dev.holdfast.tck.fuzz;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Answers that arrived on any thread, judged on the one of their history, whenever that waits for something. */
final class Inbox {
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(45);

    private final BlockingQueue<Runnable> arrived = new LinkedBlockingQueue<>();

    /** Thread-safe. */
    void add(Runnable judging) {
        arrived.add(judging);
    }

    void drain() {
        for (Runnable next = arrived.poll(); next != null; next = arrived.poll()) {
            next.run();
        }
    }

    /** Lets time pass. */
    void pass(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            takeOne(left);
        }
        drain();
    }

    void await(BooleanSupplier condition, String what) {
        long end = System.nanoTime() + PATIENCE;
        drain();
        while (!condition.getAsBoolean()) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new Violation("no answer within " + PATIENCE / 1_000_000_000 + " s: " + what);
            }
            takeOne(Math.min(left, 100_000_000));
        }
    }

    private void takeOne(long nanos) {
        try {
            Runnable next = arrived.poll(nanos, TimeUnit.NANOSECONDS);
            if (next != null) {
                next.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
