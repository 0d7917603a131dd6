package dev.holdfast.zookeeper;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Reports claims that come to wait for a lock that is held here: the node of the lock is watched, and its children are read
 * with each watch, so that no claim comes in between. Once a claim waits, nothing more is watched: that the holder is wanted
 * is news once. The client library sets its watches again after a lost connection; the next renewal reads the children too.
 * Thread-safe.
 */
final class WaiterWatches {
    private final ZooKeeperContext context;
    private volatile @Nullable StoreListener listener;

    WaiterWatches(ZooKeeperContext context) {
        this.context = context;
    }

    void listen(StoreListener told) {
        listener = told;
    }

    /** Watches for claims that come to wait while a grant stands; whether one waits already. */
    CompletableFuture<Boolean> watch(Grant grant) {
        HeldNode held = context.heldNodes().get(grant.id());
        return held == null ? CompletableFuture.completedFuture(false) : look(held);
    }

    private CompletableFuture<Boolean> look(HeldNode held) {
        Watcher again = event -> changed(held, event);
        return held.session().watchChildren(held.lock(), again).thenApply(listed -> {
            if (listed.code() != Code.OK && listed.code() != Code.NONODE) {
                throw context.errors().of(listed.code(), held.lock());
            }
            Predecessors.Seen seen = Predecessors.Seen.of(listed);
            if (!seen.names().contains(held.node())) {
                context.heldNodes().gone(held);
            }
            boolean contended = seen.contended();
            if (contended) {
                held.session().unwatch(held.lock(), again);
            }
            return contended;
        });
    }

    private void changed(HeldNode held, WatchedEvent event) {
        if (event.getType() == EventType.NodeChildrenChanged && stands(held)) {
            look(held).thenAccept(contended -> {
                StoreListener told = listener;
                if (contended && told != null && stands(held)) {
                    told.wanted(held.grant());
                }
            });
        }
    }

    private boolean stands(HeldNode held) {
        return context.heldNodes().get(held.grant().id()) == held;
    }
}
