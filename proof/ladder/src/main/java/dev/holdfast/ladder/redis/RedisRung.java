package dev.holdfast.ladder.redis;

import dev.holdfast.ladder.Rung;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

/** What all rungs in Redis have: a connection. The names of locks are their keys. */
abstract class RedisRung implements Rung {
    /** A textbook says 30; here tests wait until it is over. */
    static final long LEASE_SECONDS = 2;

    final RedisCommands<String, String> redis;
    private final RedisClient client;

    RedisRung(String url) {
        client = RedisClient.create(url);
        StatefulRedisConnection<String, String> connection = client.connect();
        redis = connection.sync();
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
