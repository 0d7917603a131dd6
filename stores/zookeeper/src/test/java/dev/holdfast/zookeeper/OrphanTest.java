package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.claim;
import static dev.holdfast.zookeeper.RawStore.granted;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes that carry the id of a claim, and belong to a session that has ended: here, to the session of a witness. */
@Timeout(120)
class OrphanTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final int LONG_SESSION = 60_000;

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final KitTime time = new KitTime();
    private CuratorFramework witness;
    private TcpProxy proxy;
    private Store store;

    @BeforeEach
    void open() throws InterruptedException {
        witness = CuratorFrameworkFactory.newClient(
                server.connectString(), LONG_SESSION, LONG_SESSION, new RetryOneTime(100));
        witness.start();
        witness.blockUntilConnected();
        proxy = TcpProxy.to(server.port());
        store = new ZooKeeperStoreProvider()
                .open(ZooKeeperServers.url("127.0.0.1:" + proxy.port(), "10s"), new StoreContext(time));
    }

    @AfterEach
    void close() {
        store.close();
        proxy.close();
        witness.close();
        time.close();
    }

    @Test
    void aClaimRemovesItsOrphanAndIsGranted() throws Exception {
        Claim claim = claim("entered");
        orphan(claim);

        Grant grant = granted(Asked.of(store, claim));

        assertThat(nodes(claim)).hasSize(1);
        assertThat(store.release(grant).toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isTrue();
    }

    /** Which of the nodes comes first among the children is chance. */
    @RepeatedTest(4)
    @Tag("thorough")
    void itDoesSoWhicheverOfTheNodesComesFirst() throws Exception {
        aClaimWhoseReplyWasLostTakesTheNodeOfItsSessionAndRemovesTheOrphans();
    }

    @Test
    void aClaimWhoseReplyWasLostTakesTheNodeOfItsSessionAndRemovesTheOrphans() throws Exception {
        Claim claim = claim("sought-" + ClaimId.random());
        orphan(claim);
        orphan(claim);
        ReplyDrop drop = proxy.dropNextReply(ChunkMatcher.containing("/x-" + claim.id()));

        Asked pending = Asked.of(store, claim);
        drop.awaitBite(TIME_LIMIT);
        Grant grant = granted(pending);

        assertThat(nodes(claim)).hasSize(1);
        assertThat(owner(claim)).isNotEqualTo(witnessSession());
        assertThat(renewed(grant)).isEqualTo(Verdict.HELD);
    }

    @Test
    void aRenewalDoesNotTakeAnotherNodeOfTheSameClaimForItsOwn() throws Exception {
        Claim claim = claim("renewed");
        Grant grant = granted(Asked.of(store, claim));

        String own = nodes(claim).get(0);
        orphan(claim);
        witness.delete().forPath(lock(claim) + "/" + own);

        assertThat(renewed(grant)).as("of a node that is gone").isEqualTo(Verdict.LOST);
    }

    @Test
    void aClaimThatIsRepeatedWhenItsNodeIsGoneIsMadeAgain() throws Exception {
        Claim claim = claim("repeated");
        Grant first = granted(Asked.of(store, claim));
        witness.delete().forPath(lock(claim) + "/" + nodes(claim).get(0));

        Grant second = granted(Asked.of(store, claim));

        assertThat(second.number()).isGreaterThan(first.number());
        assertThat(nodes(claim)).hasSize(1);
        assertThat(renewed(second)).isEqualTo(Verdict.HELD);
    }

    @Test
    void aWithdrawalRemovesAllNodesOfTheClaim() throws Exception {
        Claim claim = claim("withdrawn");
        orphan(claim);
        orphan(claim);

        store.withdraw(claim).toCompletableFuture().get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);

        await().atMost(TIME_LIMIT).until(() -> nodes(claim).isEmpty());
    }

    private void orphan(Claim claim) throws Exception {
        witness.create()
                .creatingParentsIfNeeded()
                .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                .forPath(lock(claim) + "/x-" + claim.id() + "-", "".getBytes(UTF_8));
    }

    private List<String> nodes(Claim claim) throws Exception {
        return witness.getChildren().forPath(lock(claim));
    }

    private long owner(Claim claim) throws Exception {
        return witness.checkExists()
                .forPath(lock(claim) + "/" + nodes(claim).get(0))
                .getEphemeralOwner();
    }

    private long witnessSession() throws Exception {
        return witness.getZookeeperClient().getZooKeeper().getSessionId();
    }

    private Verdict renewed(Grant grant) throws Exception {
        return store.renew(List.of(grant))
                .toCompletableFuture()
                .get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)
                .get(grant.id())
                .verdict();
    }

    private static String lock(Claim claim) {
        return new Paths("").lock(claim.name());
    }
}
