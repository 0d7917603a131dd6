package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.TokenGate;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisSentinels;
import dev.holdfast.testbed.RespConnection;
import dev.holdfast.testbed.TcpProxy;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A client is cut off from a master that the Sentinel and the replica find healthy; and the reverse: the replica
 * becomes the master while the client still reaches the old one.
 */
@Tag("thorough")
class SentinelPartitionTest {
    private static final String NAME = "order:42";
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final HoldOptions BRIEF = HoldOptions.defaults().lease(LEASE);

    private final TokenGate resource = new TokenGate(NAME);
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private RedisSentinels redis;

    @BeforeEach
    void start() {
        redis = opened(OrSkip.orSkip(() -> RedisSentinels.start(1, 1)));
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each = opened.poll(); each != null; each = opened.poll()) {
            each.close();
        }
    }

    @Test
    void aClientThatIsCutOffLosesItsHoldBeforeARivalHasTheLock() throws Exception {
        LockClient rival = opened(LockClient.connect(redis.uri()));
        TcpProxy wire = opened(TcpProxy.to(redis.master().port()));
        LockClient client = connectThrough(wire);
        Hold cutOff = client.lock(NAME, BRIEF).acquire();

        hold(wire);
        Hold next = rival.lock(NAME, BRIEF).tryAcquire(Rig.TIMEOUT).orElseThrow();

        assertThat(cutOff.isValid()).as("two valid holders").isFalse();
        assertThatOnlyTheSecondMayWrite(cutOff, next);
        assertThatCode(() -> redis.awaitMaster(redis.master()))
                .as("the master is healthy for the Sentinel")
                .doesNotThrowAnyException();
        wire.heal(); // now the renewals arrive that were kept back
        Rig.until("the client to be served again", () -> isGranted(client, "another"));
        assertThatThrownBy(cutOff::close).isInstanceOf(HoldLostException.class);
        assertThat(isGranted(client, NAME)).isFalse();
        assertThat(next.isValid()).isTrue();
        next.close();
    }

    @Test
    void aClientThatIsCutOffForLessThanItsLeaseKeepsItsHold() throws Exception {
        LockClient rival = opened(LockClient.connect(redis.uri()));
        TcpProxy wire = opened(TcpProxy.to(redis.master().port()));
        LockClient client = connectThrough(wire);
        Hold hold = client.lock(NAME, BRIEF).acquire();

        hold(wire);
        wire.toServer().awaitBite(LEASE); // a renewal is kept back
        wire.heal();

        Rig.until(
                "a renewal to count",
                () -> hold.remaining().compareTo(LEASE.multipliedBy(3).dividedBy(4)) > 0);
        assertThat(hold.isValid()).isTrue();
        assertThat(isGranted(rival, NAME)).isFalse();
        assertThatCode(() -> resource.check(hold.token())).doesNotThrowAnyException();
        hold.close();
    }

    @Test
    void withAcksAHoldOnAnOldMasterIsLostBeforeARivalHasTheLockOnTheNewOne() throws Exception {
        LockClient client = opened(LockClient.connect(redis.uri() + "?acks=1&timeout=2s"));
        Hold first = client.lock(NAME, BRIEF).acquire();

        promoteBehindTheOldMastersBack();
        LockClient rival = opened(LockClient.connect(redis.replica(0).uri()));
        Hold second = rival.lock(NAME, BRIEF).tryAcquire(Rig.TIMEOUT).orElseThrow();

        assertThat(first.isValid()).as("two valid holders").isFalse();
        assertThatOnlyTheSecondMayWrite(first, second);
        assertThatTheOldMasterStillServes();
        demoteTheOldMaster();
        Rig.until("the client to be served by the new master", () -> isGranted(client, "another"));
        assertThatThrownBy(first::close).isInstanceOf(HoldLostException.class);
        assertThat(second.isValid()).isTrue();
        second.close();
    }

    /** The purpose of acks: without them two clients believe here that they have the lock. */
    @Test
    void withoutAcksAHoldOnAnOldMasterIsLostWhenThatIsDemotedAndItsTokenIsStaleBefore() throws Exception {
        LockClient client = opened(LockClient.connect(redis.uri()));
        Hold first = client.lock(NAME, BRIEF).acquire();

        promoteBehindTheOldMastersBack();
        LockClient rival = opened(LockClient.connect(redis.replica(0).uri()));
        Hold second = rival.lock(NAME, BRIEF).tryAcquire(Rig.TIMEOUT).orElseThrow();

        assertThat(first.isValid()).as("the old master renews it").isTrue();
        assertThatOnlyTheSecondMayWrite(first, second);
        assertThat(client.capabilities().caveats())
                .as("it was said")
                .anyMatch(caveat -> caveat.contains("a failover may forget a grant"));
        assertThatTheOldMasterStillServes();
        demoteTheOldMaster();
        Rig.until("the first to be lost", () -> !first.isValid());
        assertThatThrownBy(first::close).isInstanceOf(HoldLostException.class);
        assertThat(second.isValid()).isTrue();
        second.close();
    }

    // ---- helpers ----

    /** A client of the application, which asks the Sentinel for the master, and reaches it through a wire. */
    private LockClient connectThrough(TcpProxy wire) {
        int master = redis.master().port();
        ClientResources resources = ClientResources.builder()
                .socketAddressResolver(MappingSocketAddressResolver.create((HostAndPort asked) ->
                        asked.getPort() == master ? HostAndPort.of("127.0.0.1", wire.port()) : asked))
                .build();
        this.<AutoCloseable>opened(
                () -> resources.shutdown(0, 2, TimeUnit.SECONDS).await());
        RedisURI uri = RedisURI.builder()
                .withSentinel("127.0.0.1", redis.sentinel(0).port())
                .withSentinelMasterId(RedisSentinels.MASTER)
                .build();
        RedisClient lettuce = RedisClient.create(resources, uri);
        this.<AutoCloseable>opened(() -> lettuce.shutdown(0, 2, TimeUnit.SECONDS));
        LockClient client = opened(LockClient.builder(RedisStores.on(lettuce)).build());
        assertThat(wire.connections().open()).as("it goes through the wire").isPositive();
        return client;
    }

    private static void hold(TcpProxy wire) {
        wire.toServer().hold();
        wire.toClient().hold();
    }

    /** The Sentinel makes the replica the master, and is gone before it can notify the old master. */
    private void promoteBehindTheOldMastersBack() {
        Rig.until("the Sentinel to find the replica good", this::beginsFailover);
        redis.awaitMaster(redis.replica(0));
        redis.sentinel(0).kill();
    }

    private boolean beginsFailover() {
        try (RespConnection sentinel = RespConnection.open(redis.sentinel(0).port(), Duration.ofSeconds(5))) {
            sentinel.call("SENTINEL", "FAILOVER", RedisSentinels.MASTER);
            return true;
        } catch (IllegalStateException notYet) {
            assertThat(notYet).hasMessageContaining("NOGOODSLAVE");
            return false;
        }
    }

    private void assertThatTheOldMasterStillServes() {
        assertThat(redis.master().call("ROLE")).startsWith("[master");
    }

    private void demoteTheOldMaster() {
        redis.sentinel(0).restart();
        redis.awaitReplica(redis.master());
    }

    private void assertThatOnlyTheSecondMayWrite(Hold first, Hold second) {
        assertThat(second.token()).isGreaterThan(first.token());
        resource.check(second.token());
        assertThatThrownBy(() -> resource.check(first.token())).isInstanceOf(StaleTokenException.class);
    }

    private static boolean isGranted(LockClient client, String name) {
        try (Hold hold = client.lock(name).tryAcquire().orElse(null)) {
            return hold != null;
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }
}
