package dev.holdfast.challenge.lock;

import dev.holdfast.spi.Mode;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's fenced lock behind Sentinels; its other locks have no token. */
final class RedissonFenced implements AttackedLock {
    private final RedissonClient client;
    private final RFencedLock lock;

    /** The URL as Holdfast takes it: {@code redis-sentinel://HOSTS/MASTER}. */
    RedissonFenced(String url, String name, boolean checksReplicas) {
        String[] parts = url.substring("redis-sentinel://".length()).split("/", -1);
        Config config = new Config().setCheckLockSyncedSlaves(checksReplicas);
        config.useSentinelServers()
                .setMasterName(parts[1])
                .setCheckSentinelsList(false) // it would ask for two
                .addSentinelAddress("redis://" + parts[0]);
        client = Redisson.create(config);
        lock = client.getFencedLock(name);
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        long token = lock.lockAndGetToken();
        try {
            work.run(new Fenced(token));
        } finally {
            lock.unlock();
        }
        return Result.DONE;
    }

    private record Fenced(long token) implements Grip {
        @Override
        public boolean isValid() {
            return true;
        }
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
