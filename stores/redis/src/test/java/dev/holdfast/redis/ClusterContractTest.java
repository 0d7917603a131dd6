package dev.holdfast.redis;

import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.tck.StoreContract;
import dev.holdfast.testbed.OrSkip;
import dev.holdfast.testbed.RedisCluster;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.RespConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The contract on a cluster of three masters with a replica each. For {@code ./verify --all}: the contract of one
 * server is everyday, and {@link ClusterTest} and its siblings have what differs. Of the engine's cases, those of an outage: it
 * sees one store, whatever the number of its nodes, as processes do.
 */
@Tag("only-client-outages")
@Tag("processes-in-another-class")
@Tag("thorough")
class ClusterContractTest extends StoreContract {
    @AutoClose
    private static RedisCluster cluster;

    @BeforeAll
    static void startServers() {
        // No failover while the cases of outages stop all nodes, or a busy machine lets one wait.
        cluster = OrSkip.orSkip(() -> RedisCluster.start(3, 1, "--cluster-node-timeout", "60000"));
    }

    /** Gives requests up sooner than by default: the cases of outages wait for that. */
    @Override
    protected Store open(StoreContext context) {
        return new RedisStoreProvider().open("redis-cluster://" + cluster.hosts() + "?timeout=3s", context);
    }

    @Override
    protected Optional<String> url() {
        return Optional.of("redis-cluster://" + cluster.hosts());
    }

    /** All nodes have stopped, with all connections open. */
    @Override
    protected Optional<AutoCloseable> breakStore() {
        cluster.nodes().forEach(node -> node.process().stop());
        return Optional.of(() -> cluster.nodes().forEach(node -> node.process().cont()));
    }

    @Override
    protected OptionalLong records() {
        return OptionalLong.of(
                cluster.nodes().stream().mapToLong(ClusterContractTest::keys).sum());
    }

    private static long keys(RedisServer node) {
        try (RespConnection redis = node.connect()) {
            return redis.call("ROLE").startsWith("[master") ? Long.parseLong(redis.call("DBSIZE")) : 0;
        }
    }

    /** Child processes renew on a machine that others use too. */
    @Override
    protected Duration lease() {
        return Duration.ofMillis(500);
    }

    /** The last number of the grants in each slot: no more than there are slots. */
    @Override
    protected long recordsKept(long names) {
        return names;
    }

    @Override
    protected Set<String> expectedSkips() {
        return Set.of(
                "Grants.aClaimOfAnotherThreadDoesNotOvertakeAReleaseThatIsAboutToBeSent",
                "Leases.aGrantOfASessionStandsWhileTheSessionLivesAndEndsWithIt");
    }
}
