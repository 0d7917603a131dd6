package dev.holdfast.bench.peer;

import io.lettuce.core.RedisURI;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Integration's Redis registry over Lettuce with its default settings: 60 s, asking each 100 ms or told. */
final class SpringRedisPeer implements Peer {
    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;

    SpringRedisPeer(String url, RedisLockType type) {
        RedisURI address = RedisURI.create(url);
        connections =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(address.getHost(), address.getPort()));
        connections.afterPropertiesSet();
        connections.start();
        registry = new RedisLockRegistry(connections, "bench");
        registry.setRedisLockType(type);
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new JavaLock(registry.obtain(name));
    }

    @Override
    public void close() {
        registry.destroy();
        connections.destroy();
    }
}
