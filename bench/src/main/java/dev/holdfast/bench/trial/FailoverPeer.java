package dev.holdfast.bench.trial;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.lang.ref.Reference;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The ways to lock by Sentinels that are compared. Redisson takes its fenced lock: its plain lock has no token. */
enum FailoverPeer {
    HOLDFAST_ACKS("Holdfast, `acks=1`: all replicas"),
    HOLDFAST("Holdfast"),
    REDISSON_CHECK("Redisson, `checkLockSyncedSlaves=true`, its default"),
    REDISSON("Redisson, `checkLockSyncedSlaves=false`");

    static final List<FailoverPeer> ALL = List.of(values());

    final String title;

    FailoverPeer(String title) {
        this.title = title;
    }

    /** A client, which keeps every lock that it takes. */
    interface Client extends AutoCloseable {
        /** Tries to take a lock; the token if the caller holds it, and an exception where the library cannot tell. */
        OptionalLong take(String lock) throws Exception;

        @Override
        void close();
    }

    /** Whether its new master can grant: with all replicas to confirm, and none left, it cannot. */
    boolean servesWithoutReplica() {
        return this != HOLDFAST_ACKS;
    }

    /**
     * A client of the master that the Sentinels name.
     *
     * @param sentinels as {@code 127.0.0.1:20304}, with commas
     */
    Client connect(String sentinels, String master) {
        return switch (this) {
            case HOLDFAST_ACKS -> holdfast("redis-sentinel://" + sentinels + "/" + master + "?acks=1");
            case HOLDFAST -> holdfast("redis-sentinel://" + sentinels + "/" + master);
            case REDISSON_CHECK -> redisson(sentinels, master, true);
            case REDISSON -> redisson(sentinels, master, false);
        };
    }

    /** A client that comes when the first replica is the master and has no replica: nobody could confirm. */
    Client connectLater(String sentinels, String master) {
        return (this == HOLDFAST_ACKS ? HOLDFAST : this).connect(sentinels, master);
    }

    private static Client holdfast(String url) {
        LockClient client = LockClient.connect(url);
        Map<String, Hold> holds = new ConcurrentHashMap<>();
        return new Client() {
            @Override
            public OptionalLong take(String lock) {
                return client.lock(lock)
                        .tryAcquire()
                        .map(hold -> {
                            holds.put(lock, hold);
                            return OptionalLong.of(hold.token());
                        })
                        .orElse(OptionalLong.empty());
            }

            @Override
            public void close() {
                try {
                    client.close();
                } finally {
                    Reference.reachabilityFence(holds); // until now: a hold that nobody keeps would count as leaked
                }
            }
        };
    }

    private static Client redisson(String sentinels, String master, boolean check) {
        Config config = new Config().setCheckLockSyncedSlaves(check);
        config.useSentinelServers()
                .setMasterName(master)
                .setCheckSentinelsList(false) // it would ask for two
                .addSentinelAddress("redis://" + sentinels);
        RedissonClient client = Redisson.create(config);
        return new Client() {
            @Override
            public OptionalLong take(String lock) {
                RFencedLock fenced = client.getFencedLock("redisson:" + lock);
                Long token = fenced.tryLockAndGetToken();
                return token == null ? OptionalLong.empty() : OptionalLong.of(token);
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }
}
