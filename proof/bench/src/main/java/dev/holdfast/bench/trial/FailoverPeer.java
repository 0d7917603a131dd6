package dev.holdfast.bench.trial;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The ways to lock with Sentinels that are compared. Redisson is used with its fenced lock: its plain lock has no token. */
enum FailoverPeer {
    HOLDFAST_ACKS("Holdfast, `acks=1`: all replicas"),
    HOLDFAST("Holdfast"),
    REDISSON_CHECK("Redisson, `checkLockSyncedSlaves=true`, its default"),
    REDISSON("Redisson, `checkLockSyncedSlaves=false`");

    static final List<FailoverPeer> ALL = List.of(values());

    /** A call to Redisson that found no replica to confirm it has been seen to wait without an end. */
    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(10);

    final String title;

    FailoverPeer(String title) {
        this.title = title;
    }

    /** A client, which keeps every lock that it takes. */
    interface Client extends AutoCloseable {
        /** Tries to acquire a lock; the token if it was granted, and an exception if the library cannot know or does not answer. */
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

    /** A client that connects when the first replica is the master: that has no replica, so no claim could be confirmed. */
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
                    // Until now: a hold that the garbage collector takes first counts as leaked.
                    Reference.reachabilityFence(holds);
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
            public OptionalLong take(String lock) throws Exception {
                RFencedLock fenced = client.getFencedLock("redisson:" + lock);
                Long token = fenced.tryLockAndGetTokenAsync().get(LONGEST_ANSWER.toMillis(), MILLISECONDS);
                return token == null ? OptionalLong.empty() : OptionalLong.of(token);
            }

            @Override
            public void close() {
                client.shutdown();
            }
        };
    }
}
