package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.zookeeper.DeleteCreateBatch.Made;
import dev.holdfast.zookeeper.Session.Found;
import dev.holdfast.zookeeper.Session.Listed;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Creates the node of a claim in the queue of its lock, or finds it there. Only a node of the present session is the
 * claim's: one of an earlier session may go at any moment, and is removed wherever it is seen.
 *
 * @param lock the node of the lock
 */
record NodeCreation(Claim claim, ZooKeeperContext context, String lock) {

    /**
     * The node of a claim and the queue around it.
     *
     * @param mine its node; null if it has none, as far as is known
     * @param number the transaction that made it; 0 if that is not known yet
     * @param queue the names of all nodes of the lock that matter to the claim
     */
    record Arrival(Code code, @Nullable Node mine, long number, List<String> queue) {
        static Arrival failed(Code code) {
            return new Arrival(code, null, 0, List.of());
        }

        static Arrival nowhere() {
            return failed(Code.OK);
        }
    }

    /** The nodes that must be created with the node of a claim. */
    enum Missing {
        NOTHING,
        LOCK,
        LOCK_AND_BUCKET;

        /** The next step, after the servers reported that a node is still missing. */
        Missing more() {
            return this == NOTHING ? LOCK : LOCK_AND_BUCKET;
        }
    }

    /**
     * Lists the queue behind a sync: a server that lags behind would report a lock as held that was released before.
     */
    CompletableFuture<Listed> list(Session now) {
        context.batches().removeNow();
        now.sync(lock);
        return now.children(lock);
    }

    /** Creates the node and lists the others, by requests sent back to back. */
    CompletableFuture<Arrival> enter(Session now, Missing missing) {
        String path = lock + "/" + Node.prefix(claim);
        String text = new HolderText(now.lease(), claim.holder()).write();
        List<ACL> acl = context.acl(path);
        CompletableFuture<Code> bucket =
                missing == Missing.LOCK_AND_BUCKET ? makeBucket(now) : CompletableFuture.completedFuture(Code.OK);
        CompletableFuture<Made> made = missing == Missing.NOTHING
                ? context.batches().make(now, path, text, acl)
                : now.createBelow(lock, context.acl(lock), path, text, acl).thenApply(found -> new Made(found, false));
        CompletableFuture<Listed> list = now.children(lock);
        return made.thenCombine( // answers come in the order of the requests: that of the bucket is there
                list, (exchanged, listed) -> arrived(now, bucket.getNow(Code.OK), exchanged, listed));
    }

    private CompletableFuture<Code> makeBucket(Session now) {
        String bucket = context.paths().bucket(claim.name());
        return now.create(bucket, "", context.acl(bucket), CreateMode.PERSISTENT)
                .thenApply(Found::code);
    }

    private Arrival arrived(Session now, Code bucket, Made exchanged, Listed listed) {
        Found made = exchanged.found();
        if (made.code() == Code.NODEEXISTS) {
            return Arrival.nowhere(); // another client has created the lock's node
        }
        if (made.code() != Code.OK) {
            boolean why = bucket != Code.OK && bucket != Code.NODEEXISTS;
            return Arrival.failed(why ? bucket : made.code());
        }
        Node mine = Node.ofPath(made.path()).orElseThrow();
        Stat stat = made.stat();
        boolean moved = stat != null && stat.getEphemeralOwner() != now.id();
        if (moved || listed.code() != Code.OK) {
            return new Arrival(moved ? Code.SESSIONMOVED : listed.code(), mine, 0, List.of());
        }
        removeOrphans(now, mine, Predecessors.ofClaim(claim.id(), listed.children()));
        return listed.children().contains(mine.name())
                ? new Arrival(Code.OK, mine, number(mine, stat, listed, exchanged.alone()), listed.children())
                : Arrival.nowhere(); // another client removed it
    }

    /**
     * Without a stat, the number is known if the claim's node was the only one when it was created, and none has been
     * created since: its creation is then the last change among the children.
     */
    private static long number(Node mine, @Nullable Stat stat, Listed listed, boolean alone) {
        if (stat != null) {
            return stat.getCzxid();
        }
        return alone && listed.created() == mine.place() + 1 ? listed.lastChange() : 0;
    }

    /** Finds the node after its creation got no answer. */
    CompletableFuture<Arrival> seek(Session now) {
        return now.provedChildren(context.paths().locks(), lock)
                .thenCompose(listed -> listed.code() == Code.OK
                        ? sought(now, listed)
                        : CompletableFuture.completedFuture(Arrival.failed(listed.code())));
    }

    private CompletableFuture<Arrival> sought(Session now, Listed listed) {
        List<Node> candidates = Predecessors.ofClaim(claim.id(), listed.children());
        return ThrottledRequests.ask(candidates, each -> now.exists(lock + "/" + each.name()))
                .thenApply(found -> {
                    for (int i = 0; i < candidates.size(); i++) {
                        Arrival arrival = arrived(now, candidates.get(i), found.get(i), listed.children());
                        if (arrival.code() != Code.OK) {
                            return arrival; // the claim's own node may be among the others
                        }
                        if (arrival.mine() != null) {
                            removeOrphans(now, arrival.mine(), candidates);
                            return arrival;
                        }
                    }
                    removeOrphans(now, null, candidates);
                    return Arrival.nowhere();
                });
    }

    /**
     * Checks that the node still exists. After a long wait the session's proof is old, and so would be the lease: then the
     * session is proved first.
     *
     * @param alone whether no node before it is left, as far as is known; otherwise the children are listed too
     */
    CompletableFuture<Arrival> confirm(Session now, Node mine, boolean alone) {
        if (context.time().nanoTime() - now.begin() > now.lease().toNanos() / 3) {
            now.prove(context.paths().locks());
        }
        CompletableFuture<Listed> others =
                alone ? CompletableFuture.completedFuture(Listed.NOTHING) : now.children(lock);
        return now.exists(lock + "/" + mine.name()).thenCombine(others, (found, listed) -> {
            if (!Errors.isKnown(listed.code())) {
                return Arrival.failed(listed.code());
            }
            Arrival arrival = arrived(now, mine, found, listed.children());
            if (arrival.mine() == null && found.stat() != null) {
                removeOrphans(now, null, List.of(mine));
            }
            return arrival;
        });
    }

    /**
     * The same after {@link Session#afterPutOff}: the session needs another proof, and one sent now would prove hardly more.
     */
    CompletableFuture<Arrival> confirmLater(Session now, Node mine, boolean alone) {
        CompletableFuture<Session> later = new CompletableFuture<>();
        now.afterPutOff(later);
        return later.thenCompose(same -> confirm(same, mine, alone));
    }

    /** The verdict on a node that was read. A node that was broken belongs to no claim. */
    private static Arrival arrived(Session now, Node node, Found found, List<String> queue) {
        Stat stat = found.stat();
        if (found.code() == Code.NONODE) {
            return Arrival.nowhere();
        }
        if (found.code() != Code.OK || stat == null) {
            return Arrival.failed(found.code());
        }
        return stat.getEphemeralOwner() == now.id() && stat.getVersion() == 0
                ? new Arrival(Code.OK, node, stat.getCzxid(), queue)
                : Arrival.nowhere();
    }

    private void removeOrphans(Session now, @Nullable Node mine, List<Node> ofClaim) {
        for (Node node : ofClaim) {
            String path = lock + "/" + node.name();
            if (!node.equals(mine) && !context.heldNodes().keepsOut(path)) {
                context.deleter().remove(now, path);
            }
        }
    }
}
