package dev.holdfast.internal;

import dev.holdfast.LockListener;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Tells listeners, one call after another, on a thread of its own that exists while there is something to tell: a slow
 * listener delays other listeners, never a lock.
 */
final class Teller implements AutoCloseable {
    private static final long IDLE_SECONDS = 10;

    private final List<LockListener> listeners;
    private final Executor executor;
    private final Runnable end;

    /**
     * Tells on an executor that runs one task after another.
     *
     * @param end what to do when everything already said may be the last
     */
    Teller(List<LockListener> listeners, Executor executor, Runnable end) {
        this.listeners = List.copyOf(listeners);
        this.executor = executor;
        this.end = end;
    }

    static Teller onOwnThread(List<LockListener> listeners, String threadName) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, threadName);
                    thread.setDaemon(true);
                    return thread;
                });
        executor.allowCoreThreadTimeOut(true);
        return new Teller(listeners, executor, executor::shutdown);
    }

    boolean hasListeners() {
        return !listeners.isEmpty();
    }

    /** Tells every listener of the client. */
    void tellAll(Consumer<LockListener> what) {
        for (LockListener listener : listeners) {
            tell(() -> what.accept(listener));
        }
    }

    /** Runs one action of a listener. */
    void tell(Runnable action) {
        try {
            executor.execute(() -> run(action));
        } catch (RejectedExecutionException closed) {
            Log.warn(() -> "the client is closed: a listener was not told");
        }
    }

    private static void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            Log.warn(() -> "a lock listener threw; mend it, other listeners go on", e);
        }
    }

    /** Ends once everything already said was told. */
    @Override
    public void close() {
        end.run();
    }
}
