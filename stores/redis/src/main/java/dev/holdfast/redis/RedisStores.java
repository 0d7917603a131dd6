package dev.holdfast.redis;

import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFactory;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import java.util.List;

/**
 * Locks on a Lettuce client that the application has made: its TLS, log-in, threads and metrics.
 *
 * <pre>{@code
 * RedisClient redis = RedisClient.create("redis://127.0.0.1:6379");
 * try (LockClient client = LockClient.builder(RedisStores.on(redis)).build()) {
 *     try (Hold hold = client.lock("order:42").acquire()) {
 *         orders.charge(42, hold.token());
 *     }
 * }
 * }</pre>
 */
public final class RedisStores {
    private RedisStores() {}

    /**
     * Locks in the server this client was made for. Opens one connection of its own, and a second one when a claim has
     * to wait for the first time; closing the store closes both and leaves the client to its owner.
     *
     * @param client made with a URI; it connects again by itself ({@code autoReconnect}), as Lettuce's clients do by
     *     default
     * @return the store to be; {@code build()} opens it, and throws {@link IllegalStateException} if the client was
     *     made without a URI, {@link dev.holdfast.StoreRefusedException} if the server is refused, and
     *     {@link dev.holdfast.StoreUnavailableException} if it does not answer
     * @throws IllegalArgumentException if the client does not connect again by itself
     */
    public static StoreFactory on(RedisClient client) {
        if (!client.getOptions().isAutoReconnect()) {
            throw new IllegalArgumentException("the RedisClient must connect again by itself: leave autoReconnect on");
        }
        RedisErrors errors = new RedisErrors("redis (the application's client)");
        return StoreFactory.named(
                errors.store(),
                context -> SingleServer.open(
                        client,
                        new OfferListener.Lent(client, errors),
                        errors,
                        settings(context),
                        false,
                        null,
                        () -> {}));
    }

    /**
     * Locks in the cluster this client was made for. Opens one connection of its own to each master, with the client's
     * resources and options and the log-in of its URIs, and a second one where a claim has to wait for the first time.
     * The store follows changes of the cluster by itself. Closing the store closes its connections and leaves the
     * client to its owner.
     *
     * @param client made with URIs; it connects again by itself ({@code autoReconnect}), as Lettuce's clients do by
     *     default
     * @return the store to be; {@code build()} opens it, and throws {@link dev.holdfast.StoreRefusedException} if the
     *     servers are refused, and {@link dev.holdfast.StoreUnavailableException} if none answers
     * @throws IllegalArgumentException if the client does not connect again by itself
     */
    public static StoreFactory on(RedisClusterClient client) {
        if (!client.getOptions().isAutoReconnect()) {
            throw new IllegalArgumentException(
                    "the RedisClusterClient must connect again by itself: leave autoReconnect on");
        }
        RedisErrors errors = new RedisErrors("redis-cluster (the application's client)");
        return StoreFactory.named(errors.store(), context -> {
            List<RedisURI> nodes = nodes(client, errors);
            RedisClient own = RedisClient.create(client.getResources());
            own.setOptions(client.getOptions());
            return Cluster.open(own, nodes, errors, settings(context), () -> LettuceClients.shutDown(own, 0));
        });
    }

    private static List<RedisURI> nodes(RedisClusterClient client, RedisErrors errors) {
        try {
            return client.getPartitions().stream().map(RedisClusterNode::getUri).toList();
        } catch (RedisException e) {
            throw errors.ofConnecting(e, false);
        }
    }

    private static Settings settings(StoreContext context) {
        return new Settings(context.time(), RedisUrl.TIMEOUT, PendingClaims.POLL, 0);
    }
}
