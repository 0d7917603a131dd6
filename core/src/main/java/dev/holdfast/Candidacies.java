package dev.holdfast;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The open candidacies of a client, one for a name, and the threads on which they call their listeners: a thread for
 * each candidacy that has something to report, and none otherwise. Thread-safe.
 */
final class Candidacies implements AutoCloseable {
    private static final long IDLE_SECONDS = 10;

    private final ConcurrentMap<String, Candidacy> byName = new ConcurrentHashMap<>();
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "holdfast-leader");
                thread.setDaemon(true);
                return thread;
            });
    private volatile boolean closed;

    /** Where listeners are called. */
    Executor threads() {
        return threads;
    }

    /** Adds one. */
    void add(String name, Candidacy candidacy) {
        if (byName.putIfAbsent(name, candidacy) != null) {
            throw new IllegalStateException("this client is already a candidate for '" + name
                    + "'; close that candidacy first, or use another client");
        }
        if (closed) {
            byName.remove(name, candidacy);
            throw new ClientClosedException(
                    "the client is closed and can no longer be a candidate for '" + name + "'; connect again");
        }
    }

    void remove(String name, Candidacy candidacy) {
        byName.remove(name, candidacy);
    }

    /** Closes all together; waits for each as {@link Candidacy#close()} does. */
    @Override
    public void close() {
        closed = true;
        List<Candidacy> open = List.copyOf(byName.values());
        open.forEach(Candidacy::beginClose);
        open.forEach(Candidacy::close);
        threads.setKeepAliveTime(0, TimeUnit.SECONDS); // not shut down: a term may still end
    }
}
