package dev.holdfast.challenge.store;

import dev.holdfast.testbed.Await;
import dev.holdfast.testbed.RedisSentinels;
import dev.holdfast.testbed.RedisServer;
import java.time.Duration;
import java.util.List;

/** A Redis master, a replica behind a link that can be held, and a Sentinel. One failover uses it up. */
public final class SentinelTarget implements Target {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final RedisSentinels redis = RedisSentinels.start(1, 1);
    private RedisServer master = redis.master();

    @Override
    public String settings() {
        return RedisTarget.version(redis.master())
                + ", a master, one replica, one Sentinel that waits 1 s, nothing is written to disk";
    }

    @Override
    public String url() {
        return redis.uri();
    }

    /** Awaits that the replica has all that the master has granted so far. */
    public void awaitReplicated() {
        if (!Await.until(PATIENCE, redis::isReplicated)) {
            throw new IllegalStateException("the replica did not follow within " + PATIENCE.toSeconds() + " s");
        }
    }

    /** Keeps from the replica what the master grants from now on. */
    public void holdLink() {
        redis.link(0).toClient().hold();
    }

    /** Kills the master, loses what the link holds, and returns when the replica is the master. */
    public void failOver() {
        redis.master().process().kill();
        redis.link(0).cut(); // only now, and what it held is gone with it
        redis.awaitMaster(redis.replica(0));
        master = redis.replica(0);
    }

    /** Starts the old master again, and returns when it follows the new one. */
    public void bringBack() {
        redis.master().process().restart();
        // The Sentinel would do it too, some time.
        String unused = redis.master()
                .call(
                        "REPLICAOF",
                        "127.0.0.1",
                        Integer.toString(redis.replica(0).port()));
        redis.awaitReplica(redis.master());
    }

    @Override
    public List<String> kept() {
        return RedisTarget.kept(master);
    }

    @Override
    public void close() {
        redis.close();
    }
}
