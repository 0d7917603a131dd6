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
 * Offers of a cluster: a subscription on each node that keeps a lock this client waits for. A cluster passes a message
 * on to all nodes, but the server that offers a lock counts only its direct subscribers; so a client subscribes where
 * the lock is. It may receive the same offer more than once, which costs the server nothing more. Thread-safe.
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
    public boolean isSubscribed(String lock) {
        OfferListener there = at(lock);
        return there != null && there.isSubscribed(lock);
    }

    @Override
    public boolean wasSubscribed(String lock) {
        OfferListener there = at(lock);
        return there != null && there.wasSubscribed(lock);
    }

    @Override
    public CompletionStage<Void> subscribe(String lock) {
        NodeAddress owner = cluster.owner(lock);
        return owner == null
                ? CompletableFuture.failedFuture(
                        new StoreUnavailableException("no node has the slot of '" + lock + "'"))
                : nodes.computeIfAbsent(
                                owner, node -> new OfferListener(connectors.apply(node), channel, listener, time))
                        .subscribe(lock);
    }

    /** The node has left, or no longer keeps locks. */
    void retire(NodeAddress node) {
        OfferListener left = nodes.remove(node);
        if (left != null) {
            left.retire();
        }
    }

    @Override
    public void reconnect() {
        nodes.values().forEach(OfferListener::reconnect);
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
