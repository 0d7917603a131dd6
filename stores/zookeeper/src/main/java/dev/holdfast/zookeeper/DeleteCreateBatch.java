package dev.holdfast.zookeeper;

import dev.holdfast.zookeeper.Session.Found;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * A release and the claim that follows it at once leave as one write: the old node is deleted and the new one made,
 * both or neither. The servers then agree on and log one write less before the next waiter is notified.
 *
 * <p>Only requests that one task makes on its own thread are combined. A claim by another thread, after the removal was
 * requested and before it is sent, waits until it is sent, so that the claim does not overtake it. Thread-safe.
 */
final class DeleteCreateBatch {
    private static final ThreadLocal<Exchange> CURRENT = new ThreadLocal<>();

    private final NodeDeleter deleter;
    /** Deletions that were requested and are not sent yet. */
    private final Set<Leaving> heldBack = ConcurrentHashMap.newKeySet();

    DeleteCreateBatch(NodeDeleter deleter) {
        this.deleter = deleter;
    }

    /** Runs a task. A node that it removes is removed together with the next one that it creates, or at the end. */
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

    /**
     * A node that was created, or the reason why not.
     *
     * @param alone whether the lock had no other node when this one was created
     */
    record Made(Found found, boolean alone) {}

    /** Removes the node of a grant; the answer is whether it existed. */
    CompletableFuture<Boolean> remove(HeldNode heldNode) {
        Exchange exchange = CURRENT.get();
        if (exchange == null) {
            return deleter.remove(heldNode.session(), heldNode.path());
        }
        removeNow();
        Leaving leaving = new Leaving(
                heldNode.session(),
                heldNode.path(),
                heldNode.wasAlone(),
                new CompletableFuture<>(),
                new CompletableFuture<>());
        heldBack.add(leaving);
        exchange.leaving = leaving;
        return leaving.removed;
    }

    /** Makes a claim, behind the removals of nodes of its lock that other threads have requested. */
    void behindOthers(String lock, Runnable claim) {
        if (heldBack.isEmpty()) {
            claim.run();
            return;
        }
        Exchange exchange = CURRENT.get();
        Leaving own = exchange == null ? null : exchange.leaving;
        CompletableFuture.allOf(heldBack.stream()
                        .filter(each -> each != own && each.path.startsWith(lock + "/"))
                        .map(Leaving::sent)
                        .toArray(CompletableFuture<?>[]::new))
                .thenRun(claim);
    }

    /** Creates an ephemeral sequential node. Together with a removal, the servers answer without its stat. */
    CompletableFuture<Made> make(Session session, String path, String text, List<ACL> acl) {
        Exchange exchange = CURRENT.get();
        Leaving old = exchange == null ? null : exchange.leaving;
        if (exchange == null || old == null || old.session != session) {
            removeNow();
            return session.create(path, text, acl, CreateMode.EPHEMERAL_SEQUENTIAL)
                    .thenApply(found -> new Made(found, false));
        }
        CompletableFuture<Found> replaced = session.replace(old.path, path, text, acl);
        exchange.take(); // not before: if that throws, the removal is sent alone at the end of the task
        sent(old);
        return replaced.thenApply(found -> {
            if (found.code() == Code.OK) {
                old.removed.complete(true);
            } else if (Errors.isOfConnection(found.code())) {
                deleter.removeAgain(old.session, old.path, old.removed);
            } else {
                removeAlone(old); // it may be gone already, which is why both failed
            }
            return new Made(found, old.alone && follows(old.path, found.path()));
        });
    }

    /** Whether both are nodes of one lock, and no other node of that lock was created between them. */
    private static boolean follows(String old, String made) {
        return Paths.parent(old).equals(Paths.parent(made))
                && Node.ofPath(made)
                        .flatMap(next -> Node.ofPath(old).map(before -> next.place() == before.place() + 1))
                        .orElse(false);
    }

    /** Sends a removal that was held back, before something is read. */
    void removeNow() {
        Exchange exchange = CURRENT.get();
        if (exchange != null) {
            removeAlone(exchange.take());
        }
    }

    private void removeAlone(@Nullable Leaving leaving) {
        if (leaving != null) {
            try {
                deleter.remove(leaving.session, leaving.path, leaving.removed);
            } finally {
                sent(leaving);
            }
        }
    }

    private void sent(Leaving leaving) {
        heldBack.remove(leaving);
        leaving.sent.complete(null);
    }

    /** A node to be removed. */
    private record Leaving(
            Session session,
            String path,
            boolean alone,
            CompletableFuture<Boolean> removed,
            CompletableFuture<Void> sent) {}

    private static final class Exchange {
        private @Nullable Leaving leaving;

        private @Nullable Leaving take() {
            Leaving taken = leaving;
            leaving = null;
            return taken;
        }
    }
}
