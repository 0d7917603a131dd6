package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Deletes nodes, and retries until that has succeeded: a session may outlive the connection on which a removal was
 * lost, and with it a node that would block every client. However often a removal of the same claim is requested
 * meanwhile, it is done once. Thread-safe.
 */
final class NodeDeleter {
    private final Connection connection;
    private final Paths paths;
    private final Errors errors;
    private final Map<ClaimId, Removal> underWay = new ConcurrentHashMap<>();

    NodeDeleter(Connection connection, Paths paths, Errors errors) {
        this.connection = connection;
        this.paths = paths;
        this.errors = errors;
    }

    /** Removes a node of a session; whether it was there. */
    CompletableFuture<Boolean> remove(Session session, String path) {
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        remove(session, path, removed);
        return removed;
    }

    /** Removes a node of a session, which may have ended meanwhile; the answer is whether it was there. */
    void remove(Session session, String path, CompletableFuture<Boolean> removed) {
        remove(session, path, false, removed);
    }

    /** Removes a node after a request to remove it got no answer: if it is gone, that request was carried out. */
    void removeAgain(Session session, String path, CompletableFuture<Boolean> removed) {
        remove(session, path, true, removed);
    }

    private void remove(Session session, String path, boolean again, CompletableFuture<Boolean> removed) {
        if (session.hasEnded()) {
            removeLeft(path, removed);
            return;
        }
        step(removed, session, now -> now.delete(path), code -> {
            if (Errors.isOfConnection(code)) {
                boolean perhaps = again || code != Code.THROTTLEDOP; // that one carried out nothing
                connection.whenConnectedAgain(code, removed, next -> remove(session, path, perhaps, removed));
            } else if (again && code == Code.NONODE) {
                removed.complete(true);
            } else {
                answer(code, path, removed);
            }
        });
    }

    /**
     * Removes a node of a session that ended here, if it is still there: the client library gives up a session without a
     * connection by itself, and the servers, which may have received its last message later, keep it for as much
     * longer.
     */
    void removeLeft(String path) {
        removeLeft(path, new CompletableFuture<>());
    }

    private void removeLeft(String path, CompletableFuture<Boolean> removed) {
        connection.whenConnected(removed, now -> removeLeft(now, path, removed));
    }

    private void removeLeft(Session now, String path, CompletableFuture<Boolean> removed) {
        step(removed, now, asked -> asked.exists(path), found -> {
            if (Errors.isOfConnection(found.code())) {
                connection.whenConnectedAgain(found.code(), removed, next -> removeLeft(next, path, removed));
            } else if (found.code() == Code.OK) {
                remove(now, path, removed);
            } else {
                answer(found.code(), path, removed);
            }
        });
    }

    /** Removes what a claim left, whosever it is; whether there was anything. */
    CompletableFuture<Boolean> removeClaim(String name, ClaimId id) {
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        Removal removal = remembered(id, removed);
        if (removal.isOf(removed)) {
            connection.whenConnected(removed, session -> seek(session, name, id, true, removed));
        }
        return removal.answer();
    }

    /**
     * Removes what a claim that was never sent may have left, on the present connection only. Without a connection the
     * answer is false immediately: otherwise every failed try of an outage would send a removal when it ends.
     */
    CompletableFuture<Boolean> removeClaimOnce(String name, ClaimId id) {
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        Session now = connection.session();
        if (now == null) {
            removed.complete(false);
        } else {
            seek(now, name, id, false, removed);
        }
        return removed;
    }

    /** From now on, every removal of this claim waits for this one, or for an earlier one, until it is done. */
    CompletableFuture<Boolean> remember(ClaimId id, CompletableFuture<Boolean> removed) {
        return remembered(id, removed).answer();
    }

    private Removal remembered(ClaimId id, CompletableFuture<Boolean> removed) {
        Removal now = underWay.compute(
                id, (same, earlier) -> earlier == null || earlier.isDone() ? new Removal(removed) : earlier);
        if (now.isOf(removed)) {
            removed.whenComplete((there, failure) -> underWay.remove(id, now));
        }
        return now;
    }

    /** Runs a task once what is being removed of this claim is gone: it would be taken for a part of that. */
    void behind(ClaimId id, Runnable task) {
        Removal now = underWay.get(id);
        if (now == null) {
            task.run();
        } else {
            now.answer().whenComplete((there, failure) -> task.run());
        }
    }

    /** Whether something of this claim is being removed. */
    boolean isUnderWay(ClaimId id) {
        return underWay.containsKey(id);
    }

    private void seek(Session session, String name, ClaimId id, boolean untilDone, CompletableFuture<Boolean> removed) {
        String lock = paths.lock(name);
        step(removed, session, now -> now.provedChildren(paths.locks(), lock), listed -> {
            Code code = listed.code();
            if (untilDone && Errors.isOfConnection(code)) {
                connection.whenConnectedAgain(code, removed, next -> seek(next, name, id, true, removed));
            } else if (code == Code.OK) {
                found(session, lock, Predecessors.ofClaim(id, listed.children()), removed);
            } else {
                answer(code, lock, removed);
            }
        });
    }

    /** There may be several: of the present session, and of earlier ones. */
    private void found(Session session, String lock, List<Node> left, CompletableFuture<Boolean> removed) {
        step(
                removed,
                session,
                now -> ThrottledRequests.ask(left, node -> remove(now, lock + "/" + node.name())),
                all -> removed.complete(all.contains(true)));
    }

    /**
     * Sends a request, and goes on by its answer. What is thrown on the way is the answer of the removal: without one, each
     * repeated release and each claim behind it would wait for ever.
     */
    private static <T> void step(
            CompletableFuture<Boolean> removed,
            Session session,
            Function<Session, CompletableFuture<T>> request,
            Consumer<T> then) {
        CompletableFuture<T> asked;
        try {
            asked = request.apply(session);
        } catch (RuntimeException | Error thrown) {
            removed.completeExceptionally(thrown);
            return;
        }
        asked.thenAccept(then).exceptionally(thrown -> {
            removed.completeExceptionally(Errors.unwrapped(thrown));
            return null;
        });
    }

    private void answer(Code code, String path, CompletableFuture<Boolean> removed) {
        switch (code) {
            case OK -> removed.complete(true);
            case NONODE -> removed.complete(false);
            default -> removed.completeExceptionally(errors.of(code, path));
        }
    }
}
