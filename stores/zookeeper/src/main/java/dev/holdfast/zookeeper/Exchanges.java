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
 * both or neither. It is one less for the servers to agree on and to write down before the next in line is called.
 *
 * <p>Only what one task asks for on its own thread is put together. A claim by another thread that comes in between, after
 * the removal was asked for and before it has left, waits until it has: it would overtake it. Thread-safe.
 */
final class Exchanges {
    private static final ThreadLocal<Exchange> CURRENT = new ThreadLocal<>();

    private final Removals removals;
    /** Asked for, and not sent yet. */
    private final Set<Leaving> heldBack = ConcurrentHashMap.newKeySet();

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

    /**
     * What was made.
     *
     * @param alone whether no other node of the lock can have been there with it
     */
    record Made(Found found, boolean alone) {}

    /** Removes the node of a grant; whether it was there. */
    CompletableFuture<Boolean> remove(Standing standing) {
        Exchange exchange = CURRENT.get();
        if (exchange == null) {
            return removals.remove(standing.session(), standing.path());
        }
        removeNow();
        Leaving leaving = new Leaving(
                standing.session(),
                standing.path(),
                standing.wasAlone(),
                new CompletableFuture<>(),
                new CompletableFuture<>());
        heldBack.add(leaving);
        exchange.leaving = leaving;
        return leaving.removed;
    }

    /** Makes a claim, behind the removals of nodes of its lock that other threads have asked for. */
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

    /** Makes an ephemeral sequential node; together with a removal it is answered without its stat. */
    CompletableFuture<Made> make(Session session, String path, String text, List<ACL> acl) {
        Exchange exchange = CURRENT.get();
        Leaving old = exchange == null ? null : exchange.take();
        if (old == null || old.session != session) {
            removeAlone(old);
            return session.create(path, text, acl, CreateMode.EPHEMERAL_SEQUENTIAL)
                    .thenApply(found -> new Made(found, false));
        }
        try {
            return session.replace(old.path, path, text, acl).thenApply(found -> {
                if (found.code() == Code.OK) {
                    old.removed.complete(true);
                } else {
                    removeAlone(old); // it may be gone already, which is why both failed
                }
                return new Made(found, old.alone && follows(old.path, found.path()));
            });
        } finally {
            sent(old);
        }
    }

    /** Whether no node of the lock was made between the two. */
    private static boolean follows(String old, String made) {
        return Node.ofPath(made)
                .flatMap(next -> Node.ofPath(old).map(before -> next.place() == before.place() + 1))
                .orElse(false);
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
            try {
                removals.remove(leaving.session, leaving.path, leaving.removed);
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
