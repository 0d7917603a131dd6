package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.claim;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The application's ACLs are asked for right before a node is made: they may take their time, and they may throw. */
@Timeout(120)
@Tag("thorough")
class OwnAclTest {
    private static final KitTime time = new KitTime();
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private CuratorFramework curator;
    private CuratorFramework witness;
    private TcpProxy proxy;

    @BeforeEach
    void connect() throws InterruptedException {
        proxy = TcpProxy.to(server.port());
        curator = started("127.0.0.1:" + proxy.port());
        witness = started(server.connectString());
    }

    private static CuratorFramework started(String servers) throws InterruptedException {
        CuratorFramework made = CuratorFrameworkFactory.newClient(servers, 30_000, 15_000, new RetryForever(100));
        made.start();
        made.blockUntilConnected();
        return made;
    }

    @AfterEach
    void disconnect() {
        curator.close();
        witness.close();
        proxy.close();
    }

    @Test
    void aClaimWhoseNodeIsMadeAfterItsStoreWasClosedLeavesNothing() throws Exception {
        Claim claim = claim("closed-" + ClaimId.random());
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Store store = open(path -> {
            if (path.contains(claim.id().value())) {
                asked.countDown();
                reached(closed);
            }
        });
        String lock = new Paths("").lock(claim.name());
        witness.create().creatingParentsIfNeeded().forPath(lock + "/stays");
        CompletableFuture<Asked> claiming = CompletableFuture.supplyAsync(() -> Asked.of(store, claim));
        reached(asked);

        store.close();
        closed.countDown();

        assertThatThrownBy(() -> claiming.get(60, TimeUnit.SECONDS)
                        .answer()
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .hasMessageContaining("closed");
        Stat stat = new Stat();
        int twoMadeAndOneRemoved = 3;
        await().atMost(TIME_LIMIT).until(() -> {
            List<String> left = witness.getChildren().storingStatIn(stat).forPath(lock);
            return stat.getCversion() == twoMadeAndOneRemoved && left.equals(List.of("stays"));
        });
    }

    @Test
    void aClaimWhoseAclsCannotBeReadFailsAndKeepsNoOtherFromBeingSent() throws Exception {
        Claim bad = claim("bad");
        Claim good = claim("good");
        Store store = open(path -> {
            if (path.contains(bad.id().value())) {
                throw new IllegalStateException("no ACL for this one");
            }
        });
        proxy.refuse();
        proxy.cut();
        await().atMost(TIME_LIMIT)
                .until(() -> store.status("good")
                        .toCompletableFuture()
                        .handle((status, failure) -> failure != null)
                        .get(60, TimeUnit.SECONDS));
        CompletableFuture<?> failing = Asked.of(store, bad).answer();
        Asked next = Asked.of(store, good);

        proxy.accept();

        assertThatThrownBy(() -> failing.get(60, TimeUnit.SECONDS)).hasMessageContaining("no ACL for this one");
        assertThat(next.answer().get(60, TimeUnit.SECONDS)).isPresent();
        store.close();
    }

    private Store open(Consumer<String> asked) {
        return ZooKeeperStores.on(
                        curator,
                        ZooKeeperServers.options()
                                .timeout(Duration.ofSeconds(1))
                                .acls(new Asking(asked)))
                .open(new StoreContext(time));
    }

    private static void reached(CountDownLatch latch) {
        try {
            assertThat(latch.await(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private record Asking(Consumer<String> asked) implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            asked.accept(path);
            return getDefaultAcl();
        }
    }
}
