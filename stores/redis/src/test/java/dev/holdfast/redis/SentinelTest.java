package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.RedisSentinels;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks on the master that Sentinels name. */
@Tag("thorough")
class SentinelTest {
    private final Rig rig = new Rig();
    private RedisSentinels redis;

    @BeforeEach
    void start() {
        redis = OrSkip.orSkip(() -> RedisSentinels.start(1, 1));
    }

    @AfterEach
    void stop() {
        rig.close();
        if (redis != null) {
            redis.close();
        }
    }

    @Test
    void theMasterIsFoundAlsoWhenTheFirstSentinelIsGone() {
        String url = "redis-sentinel://127.0.0.1:" + Ports.free() + "," + redis.hosts() + "/" + RedisSentinels.MASTER;
        RedisStore store = rig.open(url);

        Grant grant = Rig.hold(store, "a");

        assertThat(Rig.attempt(rig.open(redis.master().uri()), "a")).isEmpty();
        assertThat(store.description()).isEqualTo(url);
        assertThat(Rig.release(store, grant)).isTrue();
    }

    @Test
    void aMasterThatTheSentinelsDoNotKnowIsRefused() {
        assertThatThrownBy(() -> rig.open("redis-sentinel://" + redis.hosts() + "/unknown"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("no master 'unknown'")
                .hasMessageContaining("SENTINEL MASTERS");
    }

    @Test
    void aMissingSentinelIsReportedAsSuch() {
        assertThatThrownBy(() -> rig.open("redis-sentinel://127.0.0.1:" + Ports.free() + "/" + RedisSentinels.MASTER))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("is it running");
    }

    @Test
    void aUrlOfSentinelsToAServerIsRefused() {
        assertThatThrownBy(() ->
                        rig.open("redis-sentinel://127.0.0.1:" + redis.master().port() + "/any"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("no Sentinel");
    }

    @Test
    void aUrlOfAServerToASentinelIsRefused() {
        assertThatThrownBy(() -> rig.open("redis://" + redis.hosts()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("redis-sentinel://");
    }

    @Test
    void aUrlOfAClusterToASentinelIsRefused() {
        assertThatThrownBy(() -> rig.open("redis-cluster://" + redis.hosts()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("write redis-sentinel://");
    }

    /** A switchover before maintenance; the old master then answers READONLY. */
    @Test
    void aHoldAndAWaiterOutliveASwitchover() {
        RedisStore holder = rig.open(redis.uri());
        RedisStore waiter = rig.open(redis.uri());
        Grant grant = Rig.hold(holder, "a");
        Asked waits = Rig.queue(waiter, "a");
        awaitReplicated();

        Rig.until("the Sentinel to find the replica good", this::beginsSwitchover);
        redis.awaitMaster(redis.replica(0));
        redis.awaitReplica(redis.master());

        Rig.until("it to be renewed at the new master", () -> renewed(holder, grant));
        assertThat(Rig.release(holder, grant)).isTrue();
        assertThat(Rig.granted(waits).number()).isGreaterThan(grant.number());
    }

    private boolean beginsSwitchover() {
        try (RespConnection sentinel = RespConnection.open(redis.sentinel(0).port(), Duration.ofSeconds(5))) {
            sentinel.call("SENTINEL", "FAILOVER", RedisSentinels.MASTER);
            return true;
        } catch (IllegalStateException notYet) {
            assertThat(notYet).hasMessageContaining("NOGOODSLAVE");
            return false;
        }
    }

    private static boolean renewed(RedisStore store, Grant grant) {
        try {
            Renewal.Verdict verdict = Rig.renew(store, grant);
            assertThat(verdict).isNotEqualTo(Renewal.Verdict.LOST);
            return verdict == Renewal.Verdict.HELD;
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    @Test
    @Tag("thorough")
    void aHoldAndAWaiterOutliveTheMaster() throws Exception {
        try (LockClient one = LockClient.connect(redis.uri());
                LockClient two = LockClient.connect(redis.uri())) {
            Hold hold = one.lock("a").acquire();
            var next = two.lock("a").acquireAsync();
            Rig.until("it to wait", () -> two.lock("a").status().waiting() == 1);
            awaitReplicated();

            redis.master().process().kill();
            redis.awaitMaster(redis.replica(0));

            Rig.until("the hold to be seen there", () -> one.lock("a").status().isHeld());
            assertThat(hold.isValid()).isTrue();
            hold.close();
            next.get(30, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @Tag("thorough")
    void anOldMasterThatGoesOnIsNotBelieved() throws Exception {
        try (LockClient client = LockClient.connect(redis.uri() + "?timeout=1s")) {
            long before = token(client);
            awaitReplicated();
            redis.master().process().stop();
            redis.awaitMaster(redis.replica(0));
            long between = token(client);
            redis.master().process().cont();
            redis.awaitReplica(redis.master());

            assertThat(between).isGreaterThan(before);
            assertThat(token(client)).isGreaterThan(between);
        }
    }

    private void awaitReplicated() {
        Rig.until("the replica to have all", redis::isReplicated);
    }

    private static long token(LockClient client) throws InterruptedException {
        try (Hold hold = client.lock("a").tryAcquire(Duration.ofSeconds(30)).orElseThrow()) {
            return hold.token();
        }
    }
}
