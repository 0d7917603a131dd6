package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's fenced lock, with its watchdog; its other locks have no token. */
final class RedissonFenced implements AttackedLock {
    private static final String SENTINELS = "redis-sentinel://";

    private final RFencedLock lock;

    RedissonFenced(Place place, boolean checksReplicas) throws Exception {
        RedissonClient client = place.client(
                RedissonClient.class,
                "redisson-fenced " + checksReplicas,
                () -> Redisson.create(config(place.url()).setCheckLockSyncedSlaves(checksReplicas)),
                RedissonClient::shutdown);
        lock = client.getFencedLock(place.name());
    }

    /** Of a URL as Holdfast takes it: {@code redis://HOST} or {@code redis-sentinel://HOSTS/MASTER}. */
    private static Config config(String url) {
        Config config = new Config();
        if (url.startsWith(SENTINELS)) {
            String[] parts = url.substring(SENTINELS.length()).split("/", -1);
            config.useSentinelServers()
                    .setMasterName(parts[1])
                    .setCheckSentinelsList(false) // it would ask for two
                    .addSentinelAddress("redis://" + parts[0]);
        } else {
            config.useSingleServer().setAddress(url);
        }
        return config;
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
        // The client is the worker's.
    }
}
