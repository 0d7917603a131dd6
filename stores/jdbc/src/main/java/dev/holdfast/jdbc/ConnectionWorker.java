package dev.holdfast.jdbc;

import dev.holdfast.ClientClosedException;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.support.DaemonThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * One connection and the one thread that uses it. All requests for a name go through the same worker, so they take effect
 * in the order in which they were made. Others run beside it, and the server forces their commits to disk together.
 *
 * <pre>
 *   engine ──► {@link RequestQueue} ──► thread ──► {@link WorkerConnection}
 * </pre>
 *
 * <p>A connection that broke is opened again for the next request, and the request that met its end is sent once more. A
 * renewal is not: what was sent of it may still be carried out, after the one that was sent again, and it may state a
 * shorter lease. Its outcome is unknown, and the engine asks again; so a connection that was idle for long is tried before
 * a renewal is sent on it ({@link IdleTime}). A connection whose server takes no writes any more leads to yesterday's
 * primary: it is dropped as well. Thread-safe.
 */
final class ConnectionWorker {
    /**
     * After this, a request that is still in line is answered with {@link StoreUnavailableException}, and so is a request
     * of several statements before its next one. No answer to a statement takes longer than {@link
     * TableOpener#ANSWER_SECONDS}: both together limit every request.
     */
    static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private static final int TRIES = 6;
    private static final int MOST_TWICE = 1024;

    private record Later(long at, Runnable task) {}

    private final TableOpener tables;
    private final WorkerConnection connection;
    private final Thread thread;
    private final RequestQueue requests;
    private final String failed;
    /** Made before it is needed: there may be no memory then. */
    private final HoldfastException unexpected;

    private final PriorityQueue<Later> later = new PriorityQueue<>((a, b) -> Long.signum(a.at - b.at));
    /** Claims of which a first copy may still be carried out; of one that is forgotten, it costs a lease. */
    private final Set<ClaimId> sentTwice = ConcurrentHashMap.newKeySet();

    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicBoolean closing = new AtomicBoolean();
    private @Nullable Later first;
    private Request.Work<Boolean> lastTask = t -> true;
    private volatile boolean closed;
    private volatile boolean ended;

    ConnectionWorker(TableOpener tables, int number) {
        this(tables, number, DaemonThreads::daemon);
    }

    /** With threads of its caller, such as one that does not start. */
    ConnectionWorker(TableOpener tables, int number, BiFunction<String, Runnable, Thread> threads) {
        this.tables = tables;
        this.requests = new RequestQueue(tables.description());
        this.failed = "a request to " + tables.description() + " failed; please report this";
        this.unexpected = new HoldfastException(failed);
        String name = "holdfast-" + tables.description() + "-" + number;
        this.connection = new WorkerConnection(tables, name);
        this.thread = threads.apply(name, this::run);
    }

    /** Uses a connection that is open already. Before the first request. */
    void use(LockRows opened) {
        connection.use(opened);
    }

    <T> CompletableFuture<T> ask(String what, String name, Request.Work<T> work) {
        Request.Asked<T> asked = new Request.Asked<>(what, name, work);
        add(asked);
        return asked.answer;
    }

    /** The same, but a failure of the connection is its answer. */
    <T> CompletableFuture<T> askOnce(String what, String name, Request.Work<T> work) {
        Request.Asked<T> asked = new Request.AskedOnce<>(what, name, work);
        add(asked);
        return asked.answer;
    }

    CompletableFuture<Boolean> release(String name, ClaimId id) {
        Request.Release release = new Request.Release(name, id, tables.description());
        add(release);
        return release.answer;
    }

    /** Whether a copy of this claim may still be on its way; forgets it. */
    boolean wasSentTwice(ClaimId id) {
        return !sentTwice.isEmpty() && sentTwice.remove(id);
    }

    /** Runs a task on the worker's thread before it sends the next request. */
    void beforeSending(Runnable task) {
        add(new Request.Before(task));
    }

    void add(Request request) {
        requests.add(request);
        if (!started.get() && started.compareAndSet(false, true)) {
            start();
        }
        if (ended) {
            refuseAll(); // it came after the thread had looked for the last time
        }
    }

    /** A thread that does not start leaves nobody without an answer; the next request tries again. */
    private void start() {
        try {
            thread.start();
        } catch (Error e) {
            started.set(false);
            failAll(tables.errors().noThread(e));
        }
    }

    /** Runs a short task on the worker's thread after a while. For that thread alone. */
    void later(long nanos, Runnable task) {
        later.add(new Later(System.nanoTime() + nanos, task));
    }

    /** The same from any thread, before the first request or after. A worker that is never used runs nothing. */
    void plan(long nanos, Runnable task) {
        long at = System.nanoTime() + nanos;
        if (started.get() && Thread.currentThread() == thread) {
            later(nanos, task);
        } else {
            first = new Later(at, task);
        }
    }

    /**
     * Ends every request with {@link ClientClosedException}, without waiting for it.
     *
     * @param last a best effort: nothing is waited for any more
     */
    void close(Request.Work<Boolean> last) {
        if (closing.compareAndSet(false, true)) {
            lastTask = last;
            closed = true;
            ask("close", "", t -> true); // wakes the thread, or has it started to end at once
        }
    }

    /** Waits for the thread, after {@link #close}. */
    void awaitEnd() {
        DaemonThreads.awaitEnd(thread);
    }

    private void run() {
        try {
            if (first != null) {
                later.add(first);
            }
            while (!closed) {
                serveNext();
            }
            LockRows open = connection.ifOpen();
            if (open != null) {
                lastTask.on(open);
            }
        } catch (SQLException | HoldfastException e) {
            // the last task failed: places in queues run out
        } finally {
            end();
        }
    }

    /** Whatever a driver or a pool throws now, nobody is left without an answer. */
    private void end() {
        try {
            connection.close();
        } finally {
            ended = true;
            requests.drain(each -> fail(each, tables.closedException()));
        }
    }

    /** Whatever is thrown, declared or not, the worker goes on: others' requests come behind. */
    private void serveNext() {
        Request next = null;
        try {
            runDue();
            next = requests.next(Math.min(nanosToNextTask(), connection.nanosToKeepAlive()));
            if (next != null) {
                serve(next);
            } else if (connection.nanosToKeepAlive() <= 0) {
                connection.keepAlive();
            }
        } catch (InterruptedException e) {
            // by a caller's code that ran here; the thread is the worker's
        } catch (Throwable e) {
            report(e);
            if (next != null) {
                fail(next, unexpected);
            }
        }
    }

    private void fail(Request request, HoldfastException why) {
        try {
            request.fail(why);
        } catch (Throwable e) {
            report(e);
        }
    }

    private void report(Throwable e) {
        SqlSession.log(System.Logger.Level.ERROR, failed, e);
    }

    private void runDue() {
        for (Later first = later.peek(); first != null && first.at - System.nanoTime() <= 0; first = later.peek()) {
            later.remove();
            first.task.run();
        }
    }

    private long nanosToNextTask() {
        Later next = later.peek();
        return next == null ? Long.MAX_VALUE : next.at - System.nanoTime();
    }

    private void serve(Request request) {
        for (int tries = 1; ; tries++) {
            boolean sent = false;
            try {
                if (closed) {
                    throw tables.closedException();
                }
                if (System.nanoTime() - request.since > REQUEST_TIMEOUT.toNanos()) {
                    throw tooLate(request);
                }
                LockRows table = connection.open(request);
                sent = true;
                run(request, table);
                connection.used();
                return;
            } catch (SqlSession.OutOfTimeException e) {
                request.fail(tooLate(request));
                return;
            } catch (SQLException e) {
                boolean readOnly = tables.errors().isReadOnly(e) && connection.mayLeave();
                boolean broken = tables.errors().isBroken(e) || connection.isClosed();
                if (broken || readOnly) {
                    connection.drop(readOnly);
                }
                if (broken && sent) {
                    connection.broke();
                    if (sentTwice.size() >= MOST_TWICE) {
                        sentTwice.clear();
                    }
                    request.broke(sentTwice);
                }
                boolean passing = tables.errors().isPassing(e)
                        && (request.mayRepeat() || !tables.errors().isLockedOut(e));
                boolean again = passing || ((broken || readOnly) && tries == 1);
                if (tries >= TRIES || !again || (broken && sent && !request.mayRepeat())) {
                    request.fail(tables.errors().explain(request.what, request.name, e));
                    return;
                }
                nap(tries);
            } catch (HoldfastException e) {
                request.fail(closed ? tables.closedException() : e);
                return;
            } catch (Throwable e) {
                request.fail(new HoldfastException(failed, e));
                return;
            }
        }
    }

    private static void run(Request request, LockRows table) throws SQLException {
        table.session().limit(request.since + REQUEST_TIMEOUT.toNanos());
        try {
            request.run(table);
        } finally {
            table.session().limit(null);
        }
    }

    private StoreUnavailableException tooLate(Request request) {
        return new StoreUnavailableException(tables.errors().cannot(request.what, request.name)
                + ": the database has not answered within " + REQUEST_TIMEOUT.toSeconds()
                + " s; check its load and the network, and see which session locks the table or the row");
    }

    private void refuseAll() {
        failAll(tables.closedException());
    }

    /** Also on the threads of callers that come too late, several at once. */
    private void failAll(HoldfastException why) {
        requests.drainArrived(each -> fail(each, why));
    }

    private static void nap(int tries) {
        long longest = TimeUnit.MILLISECONDS.toNanos(2L << Math.min(tries, 5));
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest / 4, longest));
    }
}
