package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.TokenGate;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisSentinels;
import dev.holdfast.testbed.RespConnection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A master dies, or is paused, after its last grants were kept from its replica, and the replica becomes the master.
 * Each case runs ten times, several of them side by side: each try has servers of its own, and mostly waits for the Sentinel.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("thorough")
class FailoverTest {
    private static final int LOCKS = 5;
    private static final int TRIES = 10;
    private static final String ALL_REPLICAS = "?acks=1&timeout=6s";

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

    @RepeatedTest(TRIES)
    void withAcksNoGrantIsForgotten() {
        RedisStore store = rig.open(redis.uri() + ALL_REPLICAS);
        List<Grant> replicated = holdAll(store, "replicated");
        holdTheLink();
        assertThat(claimAll(store, "unreplicated"))
                .as("no client receives a grant that the replica does not have")
                .allSatisfy(claim -> assertThatThrownBy(() -> Rig.get(claim))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("only 0 of 1 replicas"));
        assertThatTheReplicaHas("replicated", "unreplicated");

        killTheMaster();

        RedisStore other = rig.open(redis.uri());
        assertThat(replicated).allSatisfy(grant -> {
            assertThat(Rig.attempt(other, grant.name())).as("doubled").isEmpty();
            assertThat(Rig.renew(other, grant)).isEqualTo(Renewal.Verdict.HELD);
        });
        holdAll(other, "unreplicated");
        RedisStore withAcks = rig.open(redis.uri() + ALL_REPLICAS);
        assertThatThrownBy(() -> Rig.get(withAcks.renew(replicated)))
                .as("the new master has no replica that could confirm")
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("only 0 of 1 replicas");
    }

    /** The purpose of acks: without them two clients have the lock here. */
    @RepeatedTest(TRIES)
    void withoutAcksAGrantIsForgottenAndItsTokenIsStale() {
        RedisStore store = rig.open(redis.uri());
        List<Grant> replicated = holdAll(store, "replicated");
        holdTheLink();
        List<Grant> forgotten = holdAll(store, "unreplicated");
        assertThatTheReplicaHas("replicated", "unreplicated");
        assertThat(Long.parseLong(redis.replica(0).call("GET", "holdfast:number")))
                .as("the last number lags")
                .isLessThan(forgotten.get(0).number());

        killTheMaster();

        RedisStore other = rig.open(redis.uri());
        assertThat(replicated)
                .allMatch(grant -> Rig.attempt(other, grant.name()).isEmpty());
        for (Grant first : forgotten) {
            Grant second = Rig.hold(other, first.name());
            assertThat(second.number()).isGreaterThan(first.number());
            TokenGate resource = new TokenGate(first.name());
            resource.check(second.number());
            assertThatThrownBy(() -> resource.check(first.number())).isInstanceOf(StaleTokenException.class);
            Rig.until("the first to find its grant lost", () -> isLost(store, first));
        }
        assertThat(store.capabilities().caveats())
                .as("it is documented")
                .anyMatch(caveat -> caveat.contains("a failover may forget a grant"));
    }

    /** The old master has not been notified yet that it is replaced. */
    @RepeatedTest(TRIES)
    void anOldMasterThatGoesOnGrantsNothingWhereAReplicaHasToConfirm() {
        List<Grant> replicated = holdAll(rig.open(redis.uri() + ALL_REPLICAS), "replicated");
        holdTheLink();
        redis.master().process().stop();
        redis.awaitMaster(redis.replica(0));
        redis.sentinel(0).stop();
        RedisStore newMaster = rig.open(redis.replica(0).uri());
        List<Grant> second = holdAll(newMaster, "unreplicated");
        redis.master().process().cont();

        RedisStore withAcks = rig.open(redis.master().uri() + ALL_REPLICAS);
        assertThat(claimAll(withAcks, "unreplicated"))
                .allSatisfy(claim ->
                        assertThatThrownBy(() -> Rig.get(claim)).isInstanceOf(StoreUnavailableException.class));
        assertThatThrownBy(() -> Rig.get(withAcks.renew(replicated)))
                .as("no deadline moves")
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(Rig.attempt(rig.open(redis.master().uri()), "doubled"))
                .as("without acks it grants")
                .isPresent();
        assertThat(second).allMatch(grant -> Rig.renew(newMaster, grant) == Renewal.Verdict.HELD);
    }

    // ---- helpers ----

    private static List<Grant> holdAll(RedisStore store, String prefix) {
        return names(prefix).stream().map(name -> Rig.hold(store, name)).toList();
    }

    /** All at once, so that they share a confirmation. */
    private static List<CompletableFuture<Optional<Grant>>> claimAll(RedisStore store, String prefix) {
        return names(prefix).stream()
                .map(name -> Asked.of(store, Rig.claim(name)).answer())
                .toList();
    }

    private static List<String> names(String prefix) {
        return IntStream.range(0, LOCKS).mapToObj(i -> prefix + ":" + i).toList();
    }

    private static boolean isLost(RedisStore store, Grant grant) {
        try {
            return Rig.renew(store, grant) == Renewal.Verdict.LOST;
        } catch (StoreUnavailableException notYet) {
            return false;
        }
    }

    private void holdTheLink() {
        Rig.until("the replica to have all", redis::isReplicated);
        redis.link(0).toClient().hold();
    }

    /** The link is cut only after the master is gone, and takes what it held with it. */
    private void killTheMaster() {
        redis.master().process().kill();
        redis.link(0).cut();
        redis.awaitMaster(redis.replica(0));
    }

    private void assertThatTheReplicaHas(String these, String notThose) {
        try (RespConnection replica = redis.replica(0).connect()) {
            assertThat(names(these))
                    .allMatch(name ->
                            replica.call("EXISTS", "holdfast:{" + name + "}").equals("1"));
            assertThat(names(notThose))
                    .as("the fault bites")
                    .allMatch(name ->
                            replica.call("EXISTS", "holdfast:{" + name + "}").equals("0"));
        }
    }
}
