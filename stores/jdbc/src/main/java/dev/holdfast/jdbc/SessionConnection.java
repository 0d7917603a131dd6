package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.DaemonThreads;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One session of the server, and the thread that uses it: it has grants, and they end with it.
 *
 * <p>While it has grants it asks for their rows every second, or every third of the session if that is less, and so learns
 * that the connection broke, or that a grant was broken. A session that ended is replaced at the next request; its grants
 * are lost.
 */
final class SessionConnection {
    private static final long LONGEST_BEAT = TimeUnit.SECONDS.toNanos(1);
    private static final int CHUNK = 100;
    private static final int CALL_OFFS = 20;
    private static final int CALL_OFF_MILLIS = 50;
    private static final Work<Boolean> END = locks -> true;

    private final SessionOpener opener;
    private final Consumer<Grant> lost;
    private final Thread thread;
    private final long beat;
    private final BlockingQueue<Request<?>> requests = new LinkedBlockingQueue<>();
    /** What this session has, by claim. Changed by the thread alone. */
    private final Map<ClaimId, HeldLock> grants = new LinkedHashMap<>();

    private volatile @Nullable SessionRows rows;
    private volatile @Nullable HoldfastException closed;

    /** A lock of the server that this session has, for a grant. */
    record HeldLock(Grant grant, int number) {}

    /** What is asked of the session. */
    @FunctionalInterface
    interface Work<T> {
        T on(SessionRows locks) throws SQLException;
    }

    /** One request, until it is answered or has failed. */
    private record Request<T>(String what, String name, Work<T> work, CompletableFuture<T> answer) {}

    SessionConnection(SessionOpener opener, String title, Consumer<Grant> lost) {
        this.opener = opener;
        this.lost = lost;
        this.beat = Math.min(LONGEST_BEAT, opener.session().toNanos() / 3);
        this.thread = DaemonThreads.daemon("holdfast-session-" + title, this::run);
    }

    SessionConnection start() {
        thread.start();
        return this;
    }

    /** A request that fails if it takes too long; it may still be carried out then. */
    <T> CompletableFuture<T> ask(String what, String name, Work<T> work) {
        CompletableFuture<T> answer = askPatiently(what, name, work);
        TimeSource.Scheduled limit = opener.time()
                .schedule(
                        () -> answer.completeExceptionally(new StoreUnavailableException(
                                opener.errors().cannot(what, name) + ": the server has not answered within "
                                        + SessionOpener.ANSWER.toSeconds() + " s; check that it is running")),
                        SessionOpener.ANSWER);
        answer.whenComplete((done, failure) -> limit.cancel());
        return answer;
    }

    /** A request that may wait for as long as it likes. */
    <T> CompletableFuture<T> askPatiently(String what, String name, Work<T> work) {
        Request<T> request = new Request<>(what, name, work, new CompletableFuture<>());
        requests.add(request);
        HoldfastException why = closed;
        if (why != null) {
            request.answer.completeExceptionally(why); // the thread may have ended before it came
        }
        return request.answer;
    }

    // ---- on the thread ----

    /** Keeps a lock that this session has now, for a grant. */
    void keep(HeldLock held) {
        grants.put(held.grant().id(), held);
    }

    @Nullable
    HeldLock heldAs(ClaimId id) {
        return grants.get(id);
    }

    /** Whether this session has the name: the server would give it the lock once more. */
    boolean has(String name) {
        return grants.values().stream().anyMatch(each -> each.grant().name().equals(name));
    }

    /** Gives a lock back: the row first, so that the next one finds it released. */
    boolean release(SessionRows locks, ClaimId id) throws SQLException {
        HeldLock held = grants.get(id);
        if (held == null) {
            return false;
        }
        boolean released = locks.release(held.grant().name(), id);
        locks.unlock(held.number());
        grants.remove(id);
        return released;
    }

    /** Asks for the rows of grants; those that are gone are given up. */
    Map<ClaimId, Renewal> renew(SessionRows locks, List<ClaimId> ids, boolean andWaiting) throws SQLException {
        Map<ClaimId, Renewal> answers = new HashMap<>();
        for (int from = 0; from < ids.size(); from += CHUNK) {
            renewChunk(locks, ids.subList(from, Math.min(ids.size(), from + CHUNK)), andWaiting, answers);
        }
        return answers;
    }

    private void renewChunk(SessionRows locks, List<ClaimId> ids, boolean andWaiting, Map<ClaimId, Renewal> answers)
            throws SQLException {
        long sent = opener.time().nanoTime();
        List<HeldLock> mine = new ArrayList<>();
        for (ClaimId id : ids) {
            HeldLock held = grants.get(id);
            if (held == null) {
                answers.put(id, Renewal.lost(sent));
            } else {
                mine.add(held);
            }
        }
        if (mine.isEmpty()) {
            return;
        }
        Map<String, Boolean> standing =
                locks.standing(mine.stream().map(each -> each.grant().name()).toList(), andWaiting);
        for (HeldLock held : mine) {
            ClaimId id = held.grant().id();
            Boolean contended = standing.get(id.value());
            answers.put(id, contended == null ? Renewal.lost(sent) : Renewal.held(sent, contended));
            if (contended == null) {
                lost.accept(held.grant());
                locks.unlock(held.number());
                grants.remove(id);
            }
        }
    }

    private void run() {
        while (closed == null) {
            try {
                boolean idle = grants.isEmpty();
                Request<?> next = requests.poll(idle ? opener.session().toNanos() : beat, TimeUnit.NANOSECONDS);
                if (next == null && idle) {
                    breakOff(); // before the server ends it, with an entry in its log
                    next = requests.take();
                } else if (next == null) {
                    next = new Request<Boolean>("watch", "", this::watch, new CompletableFuture<>());
                }
                serve(next);
            } catch (InterruptedException e) {
                // only closing ends it
            }
        }
        breakOff();
        HoldfastException why = closed;
        for (Request<?> left = requests.poll(); left != null; left = requests.poll()) {
            left.answer.completeExceptionally(why == null ? opener.closedException() : why);
        }
    }

    private boolean watch(SessionRows locks) throws SQLException {
        renew(locks, List.copyOf(grants.keySet()), false);
        return true;
    }

    /** On a session that had nothing to lose, and was ended by the server, or broke, the request is made once more. */
    private <T> void serve(Request<T> request) {
        if (request.work == END) {
            return;
        }
        boolean fresh = rows == null;
        for (int tries = 1; ; tries++) {
            try {
                request.answer.complete(request.work.on(session()));
                return;
            } catch (HoldfastException e) {
                request.answer.completeExceptionally(e);
                return;
            } catch (SQLException | RuntimeException e) {
                boolean again = recover(e, fresh, tries);
                if (!again) {
                    request.answer.completeExceptionally(explained(request, e));
                    return;
                }
            }
        }
    }

    /** Whether the request may be made again at once. */
    private boolean recover(Exception e, boolean fresh, int tries) {
        SessionRows used = rows;
        if (used == null || !(e instanceof SQLException failure)) {
            breakOff();
            return false;
        }
        if (tries == 1 && (used.wasCalledOff(failure) || opener.errors().isPassing(failure))) {
            return true; // a word that was meant for the statement before
        }
        boolean hadGrants = !grants.isEmpty();
        if (opener.errors().isBroken(failure) || opener.errors().isReadOnly(failure) || isClosed(used)) {
            breakOff();
            return tries == 1 && !fresh && !hadGrants;
        }
        return false;
    }

    private static boolean isClosed(SessionRows used) {
        try {
            return used.session().connection().isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    private HoldfastException explained(Request<?> request, Exception e) {
        return e instanceof SQLException failure
                ? opener.errors().explain(request.what, request.name, failure)
                : new StoreUnavailableException(opener.errors().cannot(request.what, request.name) + ": " + e, e);
    }

    private SessionRows session() throws SQLException {
        SessionRows open = rows;
        if (open == null) {
            open = opener.open();
            rows = open;
        }
        return open;
    }

    /** Ends the session, and with it the server's locks. */
    private void breakOff() {
        SessionRows ended = rows;
        rows = null;
        if (ended != null) {
            ended.session().close();
        }
        List<HeldLock> gone = List.copyOf(grants.values());
        grants.clear();
        if (closed == null) {
            gone.forEach(each -> lost.accept(each.grant()));
        }
    }

    // ---- on any thread ----

    /** Calls off the statement that waits, if it is under way. */
    void callOff() throws SQLException {
        SessionRows used = rows;
        if (used != null) {
            used.callOff();
        }
    }

    /** Cuts the connection, whatever it is doing. */
    void abort() {
        SessionRows used = rows;
        if (used != null) {
            used.session().abort();
        }
    }

    /** Ends the thread and the session when the request under way is over. */
    void close(HoldfastException why) {
        closed = why;
        requests.add(new Request<Boolean>("close", "", END, new CompletableFuture<>()));
    }

    /** Calls off what waits, again and again until the thread has ended: one word may come before the statement begins. */
    void callOffUntilEnd() {
        DaemonThreads.daemon(thread.getName() + "-end", () -> {
                    for (int words = 0; thread.isAlive() && words < CALL_OFFS; words++) {
                        try {
                            callOff();
                            thread.join(CALL_OFF_MILLIS);
                        } catch (SQLException | InterruptedException e) {
                            return; // the connection is cut soon
                        }
                    }
                })
                .start();
    }

    /** Waits for the end of the thread; what takes too long is cut. */
    void awaitEnd() {
        if (thread != Thread.currentThread()) {
            opener.time().schedule(this::abortUnlessEnded, SessionOpener.END);
        }
        DaemonThreads.awaitEnd(thread);
    }

    private void abortUnlessEnded() {
        if (thread.isAlive()) {
            DaemonThreads.daemon(thread.getName() + "-abort", this::abort).start();
        }
    }
}
