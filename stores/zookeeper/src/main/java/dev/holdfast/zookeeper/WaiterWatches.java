package dev.holdfast.zookeeper;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.StoreListener;
import dev.holdfast.spi.support.LateListener;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Reports claims that come to wait for a lock that is held here: the node of the lock is watched, and its children are read
 * with each watch, so that no claim comes in between. Once a claim waits, nothing more is watched: the holder needs
 * only one report that it is wanted. The client library sets its watches again after a lost connection; a read that the
 * loss has interrupted is repeated. The next renewal sees such a claim too. Thread-safe.
 */
final class WaiterWatches {
    private final ZooKeeperContext context;
    private final LateListener listener = new LateListener();

    WaiterWatches(ZooKeeperContext context) {
        this.context = context;
    }

    void listen(StoreListener receiver) {
        listener.set(receiver);
    }

    /** Watches for claims that come to wait while a grant exists; returns whether one waits already. */
    CompletableFuture<Boolean> watch(Grant grant) {
        HeldNode held = context.heldNodes().get(grant.id());
        return held == null
                ? CompletableFuture.completedFuture(false)
                : readQueue(held).thenApply(seen -> {
                    if (!Errors.isKnown(seen.code())) {
                        throw context.errors().of(seen.code(), held.lock());
                    }
                    return seen.contended();
                });
    }

    private CompletableFuture<Predecessors.Seen> readQueue(HeldNode held) {
        Watcher again = event -> {
            if (event.getType() == EventType.NodeChildrenChanged) {
                changed(held, Code.OK);
            }
        };
        return held.session().watchChildren(held.lock(), again).thenApply(listed -> {
            Predecessors.Seen seen = Predecessors.Seen.of(listed);
            if (Errors.isKnown(seen.code()) && !seen.names().contains(held.node())) {
                context.heldNodes().gone(held);
            }
            if (seen.contended()) {
                held.session().unwatch(held.lock(), again);
            }
            return seen;
        });
    }

    /** The watch is used up: if the connection breaks now, only another read, once it is back, finds the claim. */
    private void changed(HeldNode held, Code before) {
        context.connection().whenConnectedAgain(before, new CompletableFuture<>(), now -> {
            if (!isHeld(held)) {
                return;
            }
            readQueue(held).thenAccept(seen -> {
                if (Errors.isOfConnection(seen.code())) {
                    changed(held, seen.code());
                } else if (seen.contended() && isHeld(held)) {
                    listener.wanted(held.grant());
                }
            });
        });
    }

    private boolean isHeld(HeldNode held) {
        return context.heldNodes().get(held.grant().id()) == held;
    }
}
