package dev.holdfast.zookeeper;

import dev.holdfast.spi.Claim;
import dev.holdfast.zookeeper.Session.Found;
import dev.holdfast.zookeeper.Session.Listed;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * How the node of a claim comes into the line before its lock, or is found there.
 *
 * @param lock the node of the lock
 */
record Entrance(Claim claim, Locks locks, String lock) {

    /**
     * Where the claim stands.
     *
     * @param mine its node; null if it has none, as far as is known
     * @param number the transaction that made it; 0 if that is not known yet
     * @param line the names of all nodes of the lock
     */
    record Arrival(Code code, @Nullable Node mine, long number, List<String> line) {
        static Arrival failed(Code code) {
            return new Arrival(code, null, 0, List.of());
        }
    }

    /**
     * Makes the node and lists the others, by requests sent back to back.
     *
     * @param withLock whether to make the lock's own node before
     */
    CompletableFuture<Arrival> enter(Session now, boolean withLock) {
        CompletableFuture<Code> lockMade = withLock
                ? now.create(lock, "", locks.acl(lock), CreateMode.CONTAINER).thenApply(Found::code)
                : CompletableFuture.completedFuture(Code.OK);
        String path = lock + "/" + Node.prefix(claim);
        String text = new Holders(now.lease(), claim.holder()).write();
        CompletableFuture<Found> made = locks.exchanges().make(now, path, text, locks.acl(path));
        // all answered before the list
        return now.children(lock).thenApply(listed -> arrived(now, lockMade.join(), made.join(), listed));
    }

    private Arrival arrived(Session now, Code lockMade, Found made, Listed listed) {
        if (made.code() != Code.OK) {
            boolean why = lockMade != Code.OK && lockMade != Code.NODEEXISTS;
            return Arrival.failed(why ? lockMade : made.code());
        }
        String name = made.path().substring(made.path().lastIndexOf('/') + 1);
        Node mine = Node.parse(name).orElseThrow();
        Stat stat = made.stat();
        boolean moved = stat != null && stat.getEphemeralOwner() != now.id();
        return new Arrival(moved ? Code.SESSIONMOVED : listed.code(), mine, number(stat, listed), listed.children());
    }

    /** Where it is the only node, its making, or the removal of one that was there with it, was the last change. */
    private static long number(@Nullable Stat stat, Listed listed) {
        if (stat != null) {
            return stat.getCzxid();
        }
        return listed.children().size() == 1 ? listed.lastChange() : 0;
    }

    /** Looks for a node whose making was not answered. */
    CompletableFuture<Arrival> seek(Session now) {
        CompletableFuture<Code> proved = now.prove(locks.paths().locks());
        return now.children(lock).thenApply(listed -> {
            Code code = proved.join() == Code.OK ? listed.code() : proved.join();
            return new Arrival(code, Line.find(claim.id(), listed.children()).orElse(null), 0, listed.children());
        });
    }
}
