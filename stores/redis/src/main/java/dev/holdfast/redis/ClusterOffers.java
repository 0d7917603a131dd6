package dev.holdfast.redis;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.TimeSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Offers of a cluster: a subscription on each node that keeps a lock this client waits for. A cluster passes a message on to
 * all nodes, but the server that offers a lock counts only those who listen to it directly; and so a client listens where
 * the lock is. It may hear the same offer more than once, which asks no more of the server. Thread-safe.
 */
final class ClusterOffers implements Offers {
    private final ClusterSender cluster;
    private final Function<NodeAddress, OfferListener.Connector> connectors;
    private final String channel;
    private final OfferListener.Listener listener;
    private final TimeSource time;
    private final Map<NodeAddress, OfferListener> nodes = new ConcurrentHashMap<>();

    ClusterOffers(
            ClusterSender cluster,
            Function<NodeAddress, OfferListener.Connector> connectors,
            String channel,
            OfferListener.Listener listener,
            TimeSource time) {
        this.cluster = cluster;
        this.connectors = connectors;
        this.channel = channel;
        this.listener = listener;
        this.time = time;
    }

    @Override
    public String channel() {
        return channel;
    }

    @Override
    public boolean hears(String lock) {
        OfferListener there = at(lock);
        return there != null && there.hears(lock);
    }

    @Override
    public boolean isOpen(String lock) {
        OfferListener there = at(lock);
        return there != null && there.isOpen(lock);
    }

    @Override
    public CompletionStage<Void> open(String lock) {
        NodeAddress owner = cluster.owner(lock);
        return owner == null
                ? CompletableFuture.failedFuture(
                        new StoreUnavailableException("no node has the slot of '" + lock + "'"))
                : nodes.computeIfAbsent(
                                owner, node -> new OfferListener(connectors.apply(node), channel, listener, time))
                        .open(lock);
    }

    /** The node has left, or keeps no locks any more. */
    void retire(NodeAddress node) {
        OfferListener left = nodes.remove(node);
        if (left != null) {
            left.retire();
        }
    }

    @Override
    public void connectAnew() {
        nodes.values().forEach(OfferListener::connectAnew);
    }

    @Override
    public void giveUp() {
        nodes.values().forEach(OfferListener::giveUp);
    }

    @Override
    public void close(boolean shutDown) {
        nodes.values().forEach(node -> node.close(shutDown));
    }

    private @Nullable OfferListener at(String lock) {
        NodeAddress owner = cluster.owner(lock);
        return owner == null ? null : nodes.get(owner);
    }
}
