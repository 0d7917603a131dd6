package dev.holdfast;

import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks one after another, in order of arrival, on threads of a pool: one thread at a time, and none while there
 * is nothing to run. If the pool has no thread, because the machine has no more, the tasks are kept and submitted again
 * later. Thread-safe.
 */
final class SerialCalls implements Executor {
    private final Executor pool;
    private final Consumer<Runnable> later;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean running = new AtomicBoolean();
    private final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();

    /**
     * Calls on a pool.
     *
     * @param pool where they run
     * @param later runs its argument in a while
     */
    SerialCalls(Executor pool, Consumer<Runnable> later) {
        this.pool = pool;
        this.later = later;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        start();
    }

    /** Whether the calling thread runs one of the tasks. */
    boolean isCurrent() {
        return Thread.currentThread().equals(thread.get());
    }

    /**
     * Goes on with the next task on another thread if the present one has called {@link System#exit}: that never returns,
     * and ends the JVM only when all shutdown hooks have ended.
     */
    void leaveExiting() {
        Thread now = thread.get();
        if (now != null && isExiting(now) && thread.compareAndSet(now, null)) {
            running.set(false);
            start();
        }
    }

    private static boolean isExiting(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals("java.lang.Shutdown"));
    }

    /** Whether nothing runs and nothing waits to be run. */
    boolean isIdle() {
        return tasks.isEmpty() && !running.get();
    }

    private void start() {
        if (tasks.isEmpty() || !running.compareAndSet(false, true)) {
            return;
        }
        try {
            pool.execute(this::run);
        } catch (Throwable noThread) { // also an Error, such as of no more threads: no call may be lost
            running.set(false);
            later.accept(this::start);
        }
    }

    private void run() {
        thread.set(Thread.currentThread());
        try {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        } finally {
            thread.set(null);
            running.set(false);
            start(); // tasks that came after the last check
        }
    }
}
