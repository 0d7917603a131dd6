package dev.holdfast.zookeeper;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.TimeSource;
import dev.holdfast.spi.support.LateListener;
import dev.holdfast.spi.support.PlannedTask;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The grants of this client, by their claims, and the reports about them: lost when the session has ended, the node was
 * deleted or the lock was broken, and in doubt when the connection broke.
 *
 * <p>A broken lock's node stays for one more lease, during which its holder may still rely on it; then the holder's
 * client removes it, or the client that broke it, or the end of the session. Thread-safe.
 */
final class HeldNodes {
    private final Map<ClaimId, HeldNode> all = new ConcurrentHashMap<>();
    /** The paths of those that were broken and are not removed yet. */
    private final Set<String> broken = ConcurrentHashMap.newKeySet();

    private final NodeDeleter deleter;
    private final TimeSource time;
    private final boolean doubts;
    private final LateListener listener = new LateListener();

    /**
     * @param doubts whether a grant is in doubt when the connection breaks; otherwise it stays valid until its lease
     *     ends
     */
    HeldNodes(NodeDeleter deleter, TimeSource time, boolean doubts) {
        this.deleter = deleter;
        this.time = time;
        this.doubts = doubts;
    }

    void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    @Nullable
    HeldNode get(ClaimId id) {
        return all.get(id);
    }

    void add(HeldNode heldNode) {
        all.put(heldNode.grant().id(), heldNode);
    }

    /** Reports what happened to the session before the grant was added. */
    void check(HeldNode heldNode) {
        if (heldNode.session().hasEnded()) {
            ended(heldNode);
        } else if (!heldNode.session().isConnected()) {
            doubt(heldNode);
        }
    }

    /** Forgets a grant that is released or removed. */
    @Nullable
    HeldNode remove(ClaimId id) {
        return all.remove(id);
    }

    /** Deletes the nodes of all of them. */
    void removeAll() {
        all.values().forEach(heldNode -> deleter.remove(heldNode.session(), heldNode.path()));
        all.clear();
    }

    void suspended(Session session) {
        each(session, this::doubt);
    }

    void ended(Session session) {
        each(session, this::ended);
    }

    /** The session of a grant has ended for this client; the servers may keep its node for longer. */
    void ended(HeldNode heldNode) {
        gone(heldNode);
        deleter.removeLeft(heldNode.path());
    }

    /** The node of a grant is gone, and this client did not delete it. */
    void gone(HeldNode heldNode) {
        if (all.remove(heldNode.grant().id(), heldNode)) {
            listener.lost(heldNode.grant());
        }
    }

    /** The lock was broken. */
    void broken(HeldNode heldNode) {
        String path = heldNode.path();
        if (all.remove(heldNode.grant().id(), heldNode)) {
            broken.add(path);
            try {
                removeLater(heldNode.session(), path);
            } finally {
                listener.lost(heldNode.grant());
            }
        }
    }

    /** The client that broke it may be gone, while this session lives on. */
    private void removeLater(Session session, String path) {
        PlannedTask.surely(
                time,
                () -> deleter.remove(session, path).whenComplete((removed, failure) -> broken.remove(path)),
                session.lease());
    }

    /** Whether a node is that of a broken lock, and keeps others out until its lease has passed. */
    boolean keepsOut(String path) {
        return broken.contains(path);
    }

    private void doubt(HeldNode heldNode) {
        if (doubts) {
            listener.suspect(heldNode.grant());
        }
    }

    private void each(Session session, Consumer<HeldNode> what) {
        for (HeldNode heldNode : all.values()) {
            if (heldNode.session() == session) {
                what.accept(heldNode);
            }
        }
    }
}
