package dev.holdfast.testkit;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The thread on which all clients of a test call their listeners, so that the test can wait for what they do. */
final class ListenerThread implements Executor, AutoCloseable {
    private static final int PATIENCE_SECONDS = 10;
    /** A client may pass on what came at the end of one task by a second task: only then nothing is left. */
    private static final int ROUNDS = 2;

    private volatile @Nullable Thread thread;
    private final ThreadPoolExecutor executor;

    ListenerThread() {
        executor = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread started = new Thread(task, "holdfast-test-listeners");
            started.setDaemon(true);
            thread = started;
            return started;
        });
        executor.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    /** Waits until the listeners have heard everything that has happened so far. */
    void drain() {
        if (Thread.currentThread() == thread || executor.isShutdown()) {
            return;
        }
        try {
            for (int round = 0; round < ROUNDS; round++) {
                executor.submit(() -> {}).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException busy) {
            throw new IllegalStateException(
                    "a lock listener, or an action of Hold.onLost, has not returned for " + PATIENCE_SECONDS
                            + " s; it must not wait for the thread that moves the time of the test",
                    busy);
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public void close() {
        executor.shutdown();
    }
}
