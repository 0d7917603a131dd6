package dev.holdfast.testbed;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ends what is still running when this JVM exits. One shutdown hook for all; it cannot help when this JVM is itself
 * ended by {@code kill -9}.
 */
final class AtExit {
    private static final Set<Runnable> TASKS = ConcurrentHashMap.newKeySet();
    private static volatile boolean exiting;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(AtExit::runAll, "testbed-at-exit"));
    }

    private AtExit() {}

    /** Runs the task at exit, or at once when the exit has begun. */
    static void run(Runnable task) {
        TASKS.add(task);
        if (exiting) {
            task.run();
        }
    }

    /** Takes back a task, by identity of the object given to {@link #run}. */
    static void forget(Runnable task) {
        TASKS.remove(task);
    }

    private static void runAll() {
        exiting = true;
        for (Runnable task : TASKS) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                // The next one must be ended as well, and nobody is left to tell but the console.
                System.err.println("testbed: could not clean up at exit: " + e);
            }
        }
    }
}
