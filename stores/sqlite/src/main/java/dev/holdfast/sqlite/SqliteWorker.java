package dev.holdfast.sqlite;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.spi.support.DaemonThreads;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The one thread that runs a store's statements, in the order of the requests: so a claim comes after the release before
 * it, and no caller's thread waits.
 *
 * <p>Thread-safe.
 */
final class SqliteWorker {
    private final BlockingQueue<Request<?>> requests = new LinkedTransferQueue<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final String description;
    private final SqliteLocks table;
    private final BusyTimeout busyTimeout;
    private final Thread thread;
    private Consumer<SqliteLocks> lastTask = t -> {};
    private volatile boolean closed;
    private volatile boolean ended;

    private SqliteWorker(String description, SqliteLocks table, BusyTimeout busyTimeout) {
        this.description = description;
        this.table = table;
        this.busyTimeout = busyTimeout;
        this.thread = DaemonThreads.daemon("holdfast-" + description, this::run);
    }

    /** Starts the thread; it closes the table at its end. */
    static SqliteWorker start(String description, SqliteLocks table, BusyTimeout busyTimeout) {
        SqliteWorker worker = new SqliteWorker(description, table, busyTimeout);
        try {
            worker.thread.start();
        } catch (Error noThread) {
            table.close();
            throw noThread;
        }
        return worker;
    }

    /** Runs a request after those before it; answers on the worker's thread. */
    <T> CompletableFuture<T> ask(Function<SqliteLocks, T> work) {
        Request<T> request = new Request<>(work, new CompletableFuture<>(), System.nanoTime());
        requests.add(request);
        if (ended) {
            refuseAll(); // it was added after the thread had emptied the queue for the last time
        }
        return request.answer;
    }

    /**
     * Ends every request with {@link ClientClosedException}, runs the last task and waits for the thread.
     *
     * @param last a best effort: its statements do not wait for a busy file
     */
    void close(Consumer<SqliteLocks> last) {
        if (closing.compareAndSet(false, true)) {
            lastTask = last;
            closed = true;
            busyTimeout.end();
            ask(t -> t); // wakes the thread
        }
        DaemonThreads.awaitEnd(thread);
    }

    ClientClosedException closedException() {
        return new ClientClosedException("the client of " + description + " is closed; connect again");
    }

    private void run() {
        try (table) {
            while (!closed) {
                try {
                    serve(requests.take());
                } catch (Throwable e) {
                    // An interrupt by a caller's code that ran here, or an Error after an answer. The thread is the
                    // worker's:
                    // the next request is served all the same.
                }
            }
            lastTask.accept(table);
        } catch (HoldfastException e) {
            // the last task failed: places in queues expire
        } finally {
            ended = true;
            refuseAll();
        }
    }

    private <T> void serve(Request<T> request) {
        T result;
        try {
            if (closed) {
                throw closedException();
            }
            busyTimeout.restart(request.since);
            result = request.work.apply(table);
        } catch (Throwable e) {
            request.answer.completeExceptionally(explained(e));
            return;
        }
        request.answer.complete(result);
        table.atRest();
    }

    private Throwable explained(Throwable failure) {
        try {
            if (failure instanceof HoldfastException) {
                return closed ? closedException() : failure;
            }
            return new HoldfastException("a request to " + description + " failed; please report this", failure);
        } catch (Error noMemory) {
            return failure;
        }
    }

    private void refuseAll() {
        for (Request<?> r = requests.poll(); r != null; r = requests.poll()) {
            r.answer.completeExceptionally(closedException());
        }
    }

    private record Request<T>(Function<SqliteLocks, T> work, CompletableFuture<T> answer, long since) {}
}
