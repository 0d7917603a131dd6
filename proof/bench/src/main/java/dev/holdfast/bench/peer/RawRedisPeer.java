package dev.holdfast.bench.peer;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.UUID;

/** SET NX PX and a delete that compares, over one Lettuce connection: what Redis itself costs. */
final class RawRedisPeer implements Peer {
    private static final long LEASE_MILLIS = 30_000;
    private static final String DELETE_MINE =
            "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final String script;

    RawRedisPeer(String url) {
        client = RedisClient.create(url);
        connection = client.connect();
        script = connection.sync().scriptLoad(DELETE_MINE);
    }

    @Override
    public PeerLock open(String name, Mode mode) {
        Only.exclusive(mode, this);
        return new OneLock(connection.sync(), script, "raw:" + name);
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }

    private static final class OneLock implements PeerLock {
        private final RedisCommands<String, String> redis;
        private final String script;
        private final String[] key;
        private final String value = UUID.randomUUID().toString();

        OneLock(RedisCommands<String, String> redis, String script, String key) {
            this.redis = redis;
            this.script = script;
            this.key = new String[] {key};
        }

        @Override
        public void acquire() throws InterruptedException {
            RetryLoop.until(this::take);
        }

        @Override
        public boolean tryAcquire(Duration patience) throws InterruptedException {
            return RetryLoop.within(patience, this::take);
        }

        private boolean take() {
            return redis.set(key[0], value, SetArgs.Builder.nx().px(LEASE_MILLIS)) != null;
        }

        @Override
        public void release() {
            Long deleted = redis.evalsha(script, ScriptOutputType.INTEGER, key, value);
            if (deleted != 1) {
                throw new IllegalStateException("the lock was not mine any more");
            }
        }
    }
}
