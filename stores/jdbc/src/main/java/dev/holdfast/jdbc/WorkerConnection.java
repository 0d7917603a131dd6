package dev.holdfast.jdbc;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.DaemonThreads;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one worker: opened for the next request when the last one broke. Opening may take as long as a driver
 * or a pool likes, so a thread of its own does it, and requests are answered in time meanwhile.
 *
 * <p>For the worker's thread.
 */
final class WorkerConnection {
    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final TableOpener tables;
    private final String name;
    private @Nullable LockRows table;
    private @Nullable Opening opening;
    /** When it was used last, and how long it was idle before that. */
    private long used;

    private long idle;
    /** The request that it was opened for last, and the last one under which it broke. */
    private @Nullable Request asked;

    private @Nullable Request lostBy;
    private long left = System.nanoTime() - REST_NANOS;

    private record Opening(Thread thread, CompletableFuture<LockRows> opened) {}

    WorkerConnection(TableOpener tables, String name) {
        this.tables = tables;
        this.name = name;
    }

    /** Uses one that is open already. */
    void use(LockRows opened) {
        table = opened;
        idle = 0;
        used();
    }

    /** A request has had its answer. */
    void used() {
        tables.idleTime().survived(idle);
        idle = 0;
        used = System.nanoTime();
    }

    /** How long until it is to be kept alive. */
    long nanosToKeepAlive() {
        return table == null ? Long.MAX_VALUE : tables.idleTime().most() - (System.nanoTime() - used);
    }

    /** Keeps it alive. One that has ended is left out, and nobody hears of it: there was nothing to do on it. */
    void keepAlive() {
        LockRows open = table;
        if (open != null) {
            idle = System.nanoTime() - used;
            try {
                answers(open);
            } catch (Throwable unexpected) { // of a driver; tried again and again otherwise
                drop(false);
                throw unexpected;
            }
        }
    }

    /** Whether it still leads to the server, be it a slow one; otherwise it is given back. */
    private boolean answers(LockRows open) {
        try {
            open.session().execute(tables.dialect().readToChange("SELECT 1"));
        } catch (SQLException e) {
            if (tables.errors().isBroken(e)) {
                drop(false);
                return false;
            }
        }
        used();
        return true;
    }

    /** It broke under the request that it was opened for last. */
    void broke() {
        tables.idleTime().ended(used, idle);
        lostBy = asked;
    }

    @Nullable
    LockRows ifOpen() {
        return table;
    }

    /** The connection, opened if it must be; waits no longer than the request may. */
    LockRows open(Request asking) throws SQLException {
        LockRows open = table;
        asked = asking;
        idle = open == null ? 0 : System.nanoTime() - used;
        boolean ended = open != null && !asking.mayRepeat() && tables.idleTime().isRisky(idle) && !answers(open);
        if (ended) {
            broke(); // where it was kept alive, it was ended by something else than its idle time
        }
        if (open == null || ended) {
            Opening begun = opening == null ? begin() : opening;
            opening = begun;
            open = await(begun.opened, asking);
            use(open);
            lostBy = null;
            opening = null;
        }
        return open;
    }

    private Opening begin() {
        CompletableFuture<LockRows> opened = new CompletableFuture<>();
        Thread thread = DaemonThreads.daemon(name + "-open", () -> {
            try {
                opened.complete(tables.open());
            } catch (Throwable e) {
                opened.completeExceptionally(e);
            }
        });
        thread.start();
        return new Opening(thread, opened);
    }

    private LockRows await(CompletableFuture<LockRows> opened, Request asking) throws SQLException {
        while (true) {
            try {
                long left = ConnectionWorker.REQUEST_TIMEOUT.toNanos() - (System.nanoTime() - asking.since);
                return opened.get(Math.max(0, left), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                String limit = ConnectionWorker.REQUEST_TIMEOUT.toSeconds() + " s; see that the server answers, ";
                throw new StoreUnavailableException(
                        tables.errors().cannot(asking.what, asking.name)
                                + (lostBy == asking
                                        ? ": its connection stopped answering, and no other was opened in the rest of "
                                                + limit + "and that nothing on the way to it drops connections"
                                        : ": no connection could be opened within " + limit
                                                + "or that the application's pool has one left"),
                        e);
            } catch (ExecutionException e) {
                opening = null;
                throw failure(e);
            } catch (InterruptedException e) {
                // the thread is the worker's: nobody has a reason to stop it
            }
        }
    }

    private static SQLException failure(ExecutionException e) {
        if (e.getCause() instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        return e.getCause() instanceof SQLException failed
                ? failed
                : new SQLException("opening a connection failed: " + e.getCause(), e.getCause());
    }

    /** Whether to try another server now: not too often, because all open connections may lead to the same one. */
    boolean mayLeave() {
        long now = System.nanoTime();
        if (now - left < REST_NANOS) {
            return false;
        }
        left = now;
        return true;
    }

    boolean isClosed() {
        LockRows open = table;
        return open != null && open.session().isClosed();
    }

    /**
     * Gives it back.
     *
     * @param useless whether nobody else can use it either: a pool that lent it must not lend it again
     */
    void drop(boolean useless) {
        LockRows open = table;
        table = null;
        if (open != null) {
            tables.returnSession(open.session(), useless);
        }
    }

    /** Gives it back, also one that is being opened. */
    void close() {
        Opening begun = opening;
        opening = null;
        if (begun != null) {
            begun.opened.thenAccept(late -> tables.returnSession(late.session(), false));
            DaemonThreads.awaitEnd(begun.thread);
        }
        drop(false);
    }
}
