package dev.holdfast.internal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs tasks one after another and never one within another, on the thread that submits a task while none runs. Where a
 * store answers on the calling thread, each claim would otherwise be sent within the one before it, thousands deep.
 * Thread-safe.
 */
final class SerialRunner {
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean taken = new AtomicBoolean();

    /** Runs a task, or leaves it to the thread that runs one now. */
    void run(Runnable task) {
        tasks.add(task);
        runAll();
    }

    private void runAll() {
        while (!tasks.isEmpty() && taken.compareAndSet(false, true)) {
            boolean all = false;
            try {
                for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
                    next.run();
                }
                all = true;
            } finally {
                taken.set(false);
                if (!all) {
                    runAll(); // one threw: the others are of other threads
                }
            }
        }
    }
}
