package dev.holdfast.redis;

import dev.holdfast.spi.StoreFence;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;

/** A {@link RedisFence} on a connection of its own. */
record UrlFence(LettuceClients own, RedisFence fence) implements StoreFence {
    static UrlFence open(RedisUrl url) {
        LettuceClients own = LettuceClients.of(url);
        try {
            StatefulRedisConnection<String, String> connection = own.client().connect(StringCodec.UTF8, url.uri());
            connection.setTimeout(url.timeout());
            return new UrlFence(own, RedisFence.on(connection));
        } catch (RedisException e) {
            own.shutDown();
            throw new RedisErrors(url.description()).of(e);
        }
    }

    @Override
    public void check(String resource, long token) {
        fence.check(resource, token);
    }

    @Override
    public void close() {
        own.shutDown();
    }
}
