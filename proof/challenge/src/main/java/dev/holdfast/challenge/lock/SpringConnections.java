package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import io.lettuce.core.RedisURI;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Spring's way to a Redis server, as its starter sets it up. */
final class SpringConnections {
    private SpringConnections() {}

    static LettuceConnectionFactory at(Place place) throws Exception {
        return place.client(
                LettuceConnectionFactory.class,
                "spring-connections",
                () -> connect(place.url()),
                LettuceConnectionFactory::destroy);
    }

    private static LettuceConnectionFactory connect(String url) {
        RedisURI address = RedisURI.create(url);
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(address.getHost(), address.getPort()));
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }
}
