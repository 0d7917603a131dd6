/** Locks kept in Redis. */
module dev.holdfast.redis {
    requires transitive dev.holdfast.core;
    requires transitive lettuce.core;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.resolver;
    requires io.netty.transport;
    requires org.reactivestreams;
    requires reactor.core;
    requires static org.jspecify;

    exports dev.holdfast.redis;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.redis.RedisStoreProvider;
}
