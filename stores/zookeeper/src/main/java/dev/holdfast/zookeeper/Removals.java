package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Takes nodes away, for as long as it takes: a session may outlive the connection on which a removal was lost, and with
 * it a node that would block everybody. Thread-safe.
 */
final class Removals {
    private final Connection connection;
    private final Paths paths;
    private final Errors errors;

    Removals(Connection connection, Paths paths, Errors errors) {
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

    /** Removes a node of a session, and tells whether it was there. */
    void remove(Session session, String path, CompletableFuture<Boolean> removed) {
        if (session.hasEnded()) {
            removed.complete(false);
            return;
        }
        session.delete(path).thenAccept(code -> {
            if (Errors.isOfConnection(code)) {
                connection.whenConnected(now -> remove(session, path, removed));
            } else {
                answer(code, path, removed);
            }
        });
    }

    /** Removes what a claim left, whosever it is; whether there was anything. */
    CompletableFuture<Boolean> removeClaim(String name, ClaimId id) {
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        connection.whenConnected(session -> seek(session, name, id, removed));
        return removed;
    }

    private void seek(Session session, String name, ClaimId id, CompletableFuture<Boolean> removed) {
        String lock = paths.lock(name);
        CompletableFuture<Code> proved = session.prove(paths.locks());
        session.children(lock).thenAccept(listed -> {
            Code code = listed.code() == Code.OK ? proved.join() : listed.code();
            if (Errors.isOfConnection(code)) {
                connection.whenConnected(now -> seek(now, name, id, removed));
            } else if (code == Code.OK) {
                Optional<Node> left = Line.find(id, listed.children());
                if (left.isPresent()) {
                    found(session, lock + "/" + left.get().name(), name, id, removed);
                } else {
                    removed.complete(false);
                }
            } else {
                answer(code, lock, removed);
            }
        });
    }

    private void found(Session session, String path, String name, ClaimId id, CompletableFuture<Boolean> removed) {
        session.delete(path).thenAccept(code -> {
            if (Errors.isOfConnection(code)) {
                connection.whenConnected(now -> seek(now, name, id, removed));
            } else {
                answer(code, path, removed);
            }
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
