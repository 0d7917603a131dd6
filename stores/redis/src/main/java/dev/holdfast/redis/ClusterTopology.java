package dev.holdfast.redis;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Asks the nodes of a cluster which node has which slot, one after the other until one answers. It asks when something
 * does not fit, and as long as calls wait for a node that is gone; while all is well it does not ask. Thread-safe.
 */
final class ClusterTopology {
    private static final Duration BETWEEN = Duration.ofMillis(100);

    private final ClusterSender cluster;
    private final List<NodeAddress> seeds;
    private final AtomicBoolean asking = new AtomicBoolean();
    private volatile Set<NodeAddress> known = Set.of();

    ClusterTopology(ClusterSender cluster, List<NodeAddress> seeds) {
        this.cluster = cluster;
        this.seeds = seeds;
    }

    /** Asks soon, unless that is under way. */
    void refreshSoon() {
        if (asking.compareAndSet(false, true) && !cluster.schedule(this::refresh, BETWEEN)) {
            asking.set(false);
        }
    }

    private void refresh() {
        try {
            askAll().thenAccept(this::learn).whenComplete((done, failure) -> asked());
        } catch (Throwable broken) { // such as of memory
            asked();
        }
    }

    /** Asks at once; fails if no node answers, or some slots have no master. */
    CompletionStage<Void> refreshNow() {
        return askAll().thenAccept(owners -> {
            learn(owners);
            if (owners.served() < SlotHash.SLOT_COUNT) {
                throw cluster.notCovered(owners.served());
            }
        });
    }

    private CompletionStage<SlotOwners> askAll() {
        // Connected nodes first. In any order: a node that was cut off from the others reports what it last knew.
        Set<NodeAddress> all = new LinkedHashSet<>();
        List<NodeAddress> others = new ArrayList<>(known);
        Collections.shuffle(others);
        others.stream().filter(node -> cluster.connection(node) != null).forEach(all::add);
        all.addAll(others);
        all.addAll(seeds);
        return ask(all.iterator());
    }

    private CompletionStage<SlotOwners> ask(Iterator<NodeAddress> left) {
        if (!left.hasNext() || cluster.isClosed()) {
            return CompletableFuture.failedFuture(cluster.noNode());
        }
        return slots(left.next())
                .handle((owners, failure) -> failure != null || owners.masters().isEmpty()
                        ? ask(left)
                        : CompletableFuture.completedFuture(owners))
                .thenCompose(next -> next);
    }

    private void asked() {
        asking.set(false);
        if (!cluster.isClosed() && cluster.isStuck()) {
            refreshSoon();
        }
    }

    void learn(SlotOwners owners) {
        known = owners.all();
        cluster.learn(owners);
    }

    private CompletionStage<SlotOwners> slots(NodeAddress node) {
        StatefulRedisConnection<byte[], byte[]> open = cluster.connection(node);
        if (open != null) {
            return slots(open, node);
        }
        try {
            return cluster.connectTo(node)
                    .thenCompose(made -> slots(made, node).whenComplete((owners, failure) -> made.closeAsync()));
        } catch (Throwable e) { // the client was shut down, or an Error, such as of memory
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletionStage<SlotOwners> slots(StatefulRedisConnection<byte[], byte[]> node, NodeAddress address) {
        RedisFuture<List<Object>> asked = node.async().clusterSlots();
        Runnable giveUp = () -> asked.cancel(false);
        if (!cluster.schedule(giveUp, cluster.timeout().dividedBy(4))) {
            giveUp.run();
        }
        return asked.thenApply(said -> SlotOwners.parse(said, address));
    }
}
