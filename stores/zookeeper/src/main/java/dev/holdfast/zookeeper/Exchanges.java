package dev.holdfast.zookeeper;

import dev.holdfast.zookeeper.Session.Found;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * A release and the claim that follows it at once leave as one write: the old node is deleted and the new one made,
 * both or neither. It is one less for the servers to agree on and to write down before the next in line is called.
 *
 * <p>Only what one task asks for on its own thread is put together; nothing waits for anything else. Thread-safe.
 */
final class Exchanges {
    private static final ThreadLocal<Exchange> CURRENT = new ThreadLocal<>();

    private final Removals removals;

    Exchanges(Removals removals) {
        this.removals = removals;
    }

    /** Runs a task; a node that is to be removed in it is so with the next one made, or at the end. */
    void during(Runnable task) {
        Exchange exchange = new Exchange();
        CURRENT.set(exchange);
        try {
            task.run();
        } finally {
            CURRENT.remove();
            removeAlone(exchange.take());
        }
    }

    /** Removes a node of a session; whether it was there. */
    CompletableFuture<Boolean> remove(Session session, String path) {
        Exchange exchange = CURRENT.get();
        if (exchange == null) {
            return removals.remove(session, path);
        }
        removeNow();
        Leaving leaving = new Leaving(session, path, new CompletableFuture<>());
        exchange.leaving = leaving;
        return leaving.removed;
    }

    /** Makes an ephemeral sequential node; together with a removal it is answered without its stat. */
    CompletableFuture<Found> make(Session session, String path, String text, List<ACL> acl) {
        Exchange exchange = CURRENT.get();
        Leaving old = exchange == null ? null : exchange.take();
        if (old == null || old.session != session) {
            removeAlone(old);
            return session.create(path, text, acl, CreateMode.EPHEMERAL_SEQUENTIAL);
        }
        return session.replace(old.path, path, text, acl).thenApply(found -> {
            if (found.code() == Code.OK) {
                old.removed.complete(true);
            } else {
                removeAlone(old); // it may be gone already, which is why both failed
            }
            return found;
        });
    }

    /** What is to be removed is so before anything is read. */
    void removeNow() {
        Exchange exchange = CURRENT.get();
        if (exchange != null) {
            removeAlone(exchange.take());
        }
    }

    private void removeAlone(@Nullable Leaving leaving) {
        if (leaving != null) {
            removals.remove(leaving.session, leaving.path, leaving.removed);
        }
    }

    /** A node to be removed. */
    private record Leaving(Session session, String path, CompletableFuture<Boolean> removed) {}

    private static final class Exchange {
        private @Nullable Leaving leaving;

        private @Nullable Leaving take() {
            Leaving taken = leaving;
            leaving = null;
            return taken;
        }
    }
}
