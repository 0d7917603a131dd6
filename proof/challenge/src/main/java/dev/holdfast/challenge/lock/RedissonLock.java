package dev.holdfast.challenge.lock;

import dev.holdfast.challenge.lock.LockKind.Place;
import dev.holdfast.spi.Mode;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks, with its watchdog; the fenced one alone has a token. */
final class RedissonLock implements AttackedLock {
    private static final String SENTINELS = "redis-sentinel://";

    private final RLock lock;

    private RedissonLock(RLock lock) {
        this.lock = lock;
    }

    static RedissonLock plain(Place place) throws Exception {
        return new RedissonLock(client(place, true).getLock(place.name()));
    }

    static RedissonLock fair(Place place) throws Exception {
        return new RedissonLock(client(place, true).getFairLock(place.name()));
    }

    static RedissonLock fenced(Place place, boolean checksReplicas) throws Exception {
        return new RedissonLock(client(place, checksReplicas).getFencedLock(place.name()));
    }

    private static RedissonClient client(Place place, boolean checksReplicas) throws Exception {
        return place.client(
                RedissonClient.class,
                "redisson " + checksReplicas,
                () -> Redisson.create(config(place).setCheckLockSyncedSlaves(checksReplicas)),
                RedissonClient::shutdown);
    }

    /** Of a URL as Holdfast takes it: {@code redis://HOST} or {@code redis-sentinel://HOSTS/MASTER}. */
    private static Config config(Place place) {
        Config config = new Config();
        if (place.url().startsWith(SENTINELS)) {
            String[] parts = place.url().substring(SENTINELS.length()).split("/", -1);
            config.useSentinelServers()
                    .setMasterName(parts[1])
                    .setCheckSentinelsList(false) // it would ask for two
                    .addSentinelAddress("redis://" + parts[0]);
        } else {
            config.useSingleServer().setAddress(place.url());
        }
        return config;
    }

    @Override
    public Result turn(Mode mode, Work work) throws Exception {
        long token = acquire();
        try {
            work.run(new Grip(token, 0, () -> true));
        } finally {
            lock.unlock();
        }
        return Result.DONE;
    }

    private long acquire() throws InterruptedException {
        if (lock instanceof RFencedLock fenced) {
            return fenced.lockAndGetToken();
        }
        lock.lockInterruptibly();
        return 0;
    }
}
