package dev.holdfast.jdbc;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.DaemonThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One session of the server, and the thread that uses it: it has grants, and they end with it.
 *
 * <p>While it has grants it asks for their rows every second, or every third of the session if that is less, and so learns
 * that the connection broke, that a grant was broken, or that the server takes no writes any more. A session that ended is
 * replaced at the next request; its grants are lost.
 */
final class SessionConnection {
    private static final int CHUNK = 100;
    private static final int CANCELS = 20;
    private static final int CANCEL_MILLIS = 50;

    private final SessionOpener opener;
    private final Consumer<Grant> lost;
    private final Thread thread;
    private final SessionRequests requests = new SessionRequests();
    /** What this session has. Changed by the thread alone. */
    private final HeldLocks grants = new HeldLocks();
    /** Made before it is needed: there may be no memory for it then. */
    private final HoldfastException unexpected;

    private volatile @Nullable SessionRows rows;
    private volatile @Nullable HoldfastException closed;

    SessionConnection(SessionOpener opener, String title, Consumer<Grant> lost) {
        this.opener = opener;
        this.lost = lost;
        this.unexpected =
                new HoldfastException("a request to " + opener.errors().store() + " failed; please report this");
        this.thread = opener.thread("holdfast-session-" + title, this::run);
    }

    SessionConnection start() {
        opener.start(thread);
        return this;
    }

    /** A request that fails if it takes too long, and is not carried out after that. */
    <T> CompletableFuture<T> ask(String what, String name, SessionRequests.Work<T> work) {
        return limited(what, name, add(requests.inTurn(what, name, work, null)));
    }

    /** The same within some time, before all that waits its turn: grants do not wait behind claims. */
    <T> CompletableFuture<T> askFirst(Duration limit, String what, String name, SessionRequests.Work<T> work) {
        return opener.limited(limit, what, name, add(requests.first(what, name, work, null)));
    }

    /**
     * Gives something back before all that waits its turn, also when it has taken too long; false once the session has ended,
     * which has given back everything.
     */
    CompletableFuture<Boolean> askFirstSurely(String what, String name, SessionRequests.Work<Boolean> work) {
        return limited(what, name, add(requests.first(what, name, work, false)).copy());
    }

    /** The same in its turn. */
    CompletableFuture<Boolean> askSurely(String what, String name, SessionRequests.Work<Boolean> work) {
        return limited(what, name, add(requests.inTurn(what, name, work, false)).copy());
    }

    /** A request that may wait for as long as it likes. */
    <T> CompletableFuture<T> askWithoutTimeout(String what, String name, SessionRequests.Work<T> work) {
        return add(requests.inTurn(what, name, work, null));
    }

    private <T> CompletableFuture<T> limited(String what, String name, CompletableFuture<T> answer) {
        return opener.limited(SessionOpener.ANSWER, what, name, answer);
    }

    private <T> CompletableFuture<T> add(SessionRequests.Request<T> request) {
        requests.add(request);
        HoldfastException why = closed;
        if (why != null) {
            request.answer().completeExceptionally(why); // the thread may have ended before it came
        }
        return request.answer();
    }

    // ---- on the thread ----

    /** Keeps a lock that this session has now, for a grant. */
    void keep(SessionRows locks, HeldLocks.Held held) {
        grants.put(held);
        locks.kept();
    }

    int grants() {
        return grants.size();
    }

    HeldLocks.@Nullable Held heldAs(ClaimId id) {
        return grants.get(id);
    }

    /** Whether this session has the name: the server would give it the lock once more. */
    boolean has(String name) {
        return grants.has(name);
    }

    /**
     * Releases a lock: the row first, so that the next client finds it released. If another session keeps the row
     * locked, or the database refuses the change, the lock itself is released all the same, and the next client waits
     * for one session.
     */
    boolean release(SessionRows locks, ClaimId id) throws SQLException {
        HeldLocks.Held held = grants.get(id);
        if (held == null) {
            return false;
        }
        boolean released;
        try {
            released = held.released() || locks.release(held.grant().name(), id);
        } catch (SQLException e) {
            SqlErrors errors = opener.errors();
            if (errors.isBroken(e) || errors.isReadOnly(e) || SqlErrors.isConflict(e)) {
                throw e; // the session ends, or the release is repeated
            }
            locks.unlock(held.number());
            grants.remove(id);
            throw errors.explain("release", held.grant().name(), e);
        }
        if (released) {
            grants.put(held.asReleased()); // for a second try, if the unlocking fails
        }
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
        List<HeldLocks.Held> mine = new ArrayList<>();
        for (ClaimId id : ids) {
            HeldLocks.Held held = grants.get(id);
            if (held == null) {
                answers.put(id, Renewal.lost(sent));
            } else {
                mine.add(held);
            }
        }
        if (mine.isEmpty()) {
            return;
        }
        Map<String, Boolean> valid =
                locks.valid(mine.stream().map(each -> each.grant().name()).toList(), andWaiting);
        for (HeldLocks.Held held : mine) {
            ClaimId id = held.grant().id();
            Boolean contended = valid.get(id.value());
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
            serveNext();
        }
        try {
            endSession();
        } finally {
            HoldfastException why = closed;
            requests.failAll(why == null ? opener.closedException() : why);
        }
    }

    /** Whatever is thrown, declared or not, the thread goes on: others' requests come behind. */
    private void serveNext() {
        SessionRequests.Request<?> next = null;
        try {
            boolean idle = grants.isEmpty();
            next = requests.poll(idle ? opener.session().toNanos() : opener.beat(), TimeUnit.NANOSECONDS);
            if (next == null && idle) {
                endSession(); // before the server ends it, with an entry in its log
                next = requests.take();
            } else if (next == null) {
                next = requests.first("watch", "", this::watch, null);
            }
            serve(next);
        } catch (InterruptedException e) {
            // only closing ends it
        } catch (Throwable e) {
            SqlSession.log(System.Logger.Level.ERROR, String.valueOf(unexpected.getMessage()), e);
            if (next != null) {
                next.answer().completeExceptionally(unexpected);
            }
        }
    }

    private boolean watch(SessionRows locks) throws SQLException {
        renew(locks, grants.ids(), false);
        return true;
    }

    /**
     * On a session that had nothing to lose, and was ended by the server, or broke, the request is made once more. One that
     * nobody waits for any more is left out, and so is one that would only give back what an ended session had.
     */
    private <T> void serve(SessionRequests.Request<T> request) {
        if (request.isOver()) {
            return;
        }
        boolean fresh = rows == null;
        @Nullable T already = request.withoutSession();
        if (fresh && already != null) {
            request.answer().complete(already);
            return;
        }
        for (int tries = 1; ; tries++) {
            try {
                request.answer().complete(request.work().on(session()));
                return;
            } catch (Throwable e) { // an Error, too, must not end the thread and leave the connection open
                if (!recover(e, fresh, tries)) {
                    request.answer().completeExceptionally(opener.explained(request, e));
                    return;
                }
            }
        }
    }

    /** Whether the request may be made again at once. */
    private boolean recover(Throwable e, boolean fresh, int tries) {
        SessionRows used = rows;
        if (used == null) {
            return false;
        }
        if (!(e instanceof SQLException failure)) {
            if (e instanceof HoldfastException) {
                unlockUnkept(used);
            } else {
                endSession();
            }
            return false;
        }
        boolean hadGrants = !grants.isEmpty();
        if (opener.errors().isBroken(failure)
                || opener.errors().isReadOnly(failure)
                || used.session().isClosed()) {
            endSession();
            return tries == 1 && !fresh && !hadGrants;
        }
        unlockUnkept(used);
        boolean passing = used.wasCancelled(failure) // by a request that was meant for the statement before
                || opener.errors().isPassing(failure)
                        && !(hadGrants && opener.errors().isLockedOut(failure));
        return tries == 1 && rows != null && passing;
    }

    /** Gives back what a request that failed has got. Where that fails too, the server does it as the session ends. */
    private void unlockUnkept(SessionRows used) {
        try {
            used.unlockUnkept(grants.isEmpty());
        } catch (Throwable e) {
            endSession();
        }
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
    private void endSession() {
        SessionRows ended = rows;
        rows = null;
        if (ended != null) {
            ended.session().close();
        }
        List<Grant> gone = grants.clear();
        if (closed == null) {
            gone.forEach(lost);
        }
    }

    // ---- on any thread ----

    /** Calls off the statement that waits, if it is under way. */
    void cancelStatement() throws SQLException {
        SessionRows used = rows;
        if (used != null) {
            used.cancelStatement();
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
        requests.addEnd();
    }

    /**
     * Cancels what waits, again and again until the thread has ended: one request may arrive before the statement begins.
     * Where no thread can be started for it, the connection is cut.
     */
    void cancelUntilEnd() {
        try {
            opener.start(opener.thread(thread.getName() + "-end", this::cancelStatements));
        } catch (StoreRefusedException noThread) {
            abort();
        }
    }

    private void cancelStatements() {
        for (int cancels = 0; thread.isAlive() && cancels < CANCELS; cancels++) {
            try {
                cancelStatement();
                thread.join(CANCEL_MILLIS);
            } catch (SQLException | InterruptedException e) {
                return; // the connection is cut soon
            }
        }
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
            opener.start(opener.thread(thread.getName() + "-abort", this::abort));
        }
    }
}
