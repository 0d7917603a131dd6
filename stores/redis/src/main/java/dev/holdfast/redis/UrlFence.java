package dev.holdfast.redis;

import dev.holdfast.spi.StoreFence;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.StringCodec;

/** A {@link RedisFence} on a connection of its own. */
record UrlFence(Runnable shutDown, RedisFence fence) implements StoreFence {
    static UrlFence open(RedisUrl url) {
        LettuceClients own = LettuceClients.of(url);
        try {
            return url.kind() == RedisUrl.Kind.CLUSTER ? onCluster(url, own) : onServer(url, own);
        } catch (RedisException e) {
            own.shutDown();
            throw new RedisErrors(url.description()).of(e);
        }
    }

    private static UrlFence onServer(RedisUrl url, LettuceClients own) {
        StatefulRedisConnection<String, String> connection = own.client().connect(StringCodec.UTF8, url.uri());
        connection.setTimeout(url.timeout());
        return new UrlFence(own::shutDown, RedisFence.on(connection));
    }

    private static UrlFence onCluster(RedisUrl url, LettuceClients own) {
        RedisClusterClient cluster = RedisClusterClient.create(own.resources(), url.servers());
        cluster.setOptions(
                ClusterClientOptions.builder(own.client().getOptions()).build());
        try {
            StatefulRedisClusterConnection<String, String> connection = cluster.connect(StringCodec.UTF8);
            connection.setTimeout(url.timeout());
            return new UrlFence(() -> shutDown(cluster, own), RedisFence.on(connection));
        } catch (RedisException e) {
            LettuceClients.shutDown(cluster, 0);
            throw e;
        }
    }

    private static void shutDown(RedisClusterClient cluster, LettuceClients own) {
        LettuceClients.shutDown(cluster, 0);
        own.shutDown();
    }

    @Override
    public void check(String resource, long token) {
        fence.check(resource, token);
    }

    @Override
    public void close() {
        shutDown.run();
    }
}
