package dev.holdfast.redis;

import dev.holdfast.StaleTokenException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisScriptingCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;

/**
 * A fence in Redis: admits work whose token is at least as high as every token seen before for the same resource. It
 * guards data that lives in Redis, or anything that can be reached only through a check in Redis.
 *
 * <pre>{@code
 * RedisFence fence = RedisFence.on(connection);
 * try (Hold hold = client.lock("stock:7").acquire()) {
 *     fence.check("stock:7", hold.token());       // StaleTokenException once a later hold was here
 *     connection.sync().decr("stock:7");
 * }
 * }</pre>
 *
 * <p>For exclusive holds only. The check is one step in the server; the work after it is another step, and a later
 * holder may act in between. The highest token stays for ever under {@code holdfast:fence:} and the resource's name: a
 * fence that forgets protects nothing. So it belongs in the Redis that holds the data, with {@code maxmemory-policy
 * noeviction}; it is no remedy for a Redis that evicts keys or loses writes in a failover, which takes its key as well.
 * Thread-safe as its connection is.
 */
public final class RedisFence {
    private static final String PREFIX = "holdfast:fence:";
    private static final RedisErrors ERRORS = new RedisErrors("the Redis of the fence");

    private final RedisScriptingCommands<String, String> redis;

    private RedisFence(RedisScriptingCommands<String, String> redis) {
        this.redis = redis;
    }

    /** A fence that remembers in the server of this connection, which stays the caller's. */
    public static RedisFence on(StatefulRedisConnection<String, String> connection) {
        return new RedisFence(connection.sync());
    }

    /** A fence that remembers in the cluster of this connection, which stays the caller's. */
    public static RedisFence on(StatefulRedisClusterConnection<String, String> connection) {
        return new RedisFence(connection.sync());
    }

    /**
     * Admits a token; waits for the server's answer, as long as the connection's timeout allows.
     *
     * @param resource the guarded resource; usually the name of the lock
     * @param token of the hold under which the work is done, not negative
     * @throws StaleTokenException if a higher one was admitted before
     * @throws IllegalArgumentException if the token is negative
     * @throws dev.holdfast.StoreUnavailableException if the server did not answer; the token may have been admitted
     * @throws dev.holdfast.StoreRefusedException if the server refused, for a missing right or because the key holds
     *     something else
     */
    public void check(String resource, long token) {
        if (token < 0) {
            throw new IllegalArgumentException("a token is not negative: " + token);
        }
        long admitted = Long.parseLong(highest(PREFIX + resource, Long.toString(token)));
        if (admitted > token) {
            throw new StaleTokenException(resource, token, admitted);
        }
    }

    private String highest(String key, String token) {
        String[] keys = {key};
        try {
            try {
                return redis.evalsha(Script.FENCE.digest(), ScriptOutputType.VALUE, keys, token);
            } catch (RedisNoScriptException unknown) {
                return redis.eval(Script.FENCE.body(), ScriptOutputType.VALUE, keys, token);
            }
        } catch (RedisException e) {
            throw ERRORS.of(e);
        }
    }
}
