package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.OnceOptions;
import dev.holdfast.spi.StoreFactory;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks on a Curator client of the application: under its namespace, with the rights that it gives to its nodes. */
@Timeout(120)
class LentClientTest {
    private static ZooKeeperServer server;
    private static CuratorFramework stranger;

    @BeforeAll
    static void startServer() throws InterruptedException {
        server = ZooKeeperServers.quick();
        stranger = started(builder());
    }

    @AfterAll
    static void stopServer() {
        stranger.close();
        server.close();
    }

    private static CuratorFrameworkFactory.Builder builder() {
        return CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .retryPolicy(new RetryForever(100));
    }

    private static CuratorFramework started(CuratorFrameworkFactory.Builder builder) throws InterruptedException {
        CuratorFramework made = builder.build();
        made.start();
        made.blockUntilConnected();
        return made;
    }

    @Test
    void aViewWithANamespaceKeepsTheLocksUnderIt() throws Exception {
        CuratorFramework curator = started(builder());
        LockClient client = LockClient.builder(ZooKeeperStores.on(curator.usingNamespace("view")))
                .build();
        Hold hold = client.lock("a").acquire();
        assertThat(stranger.checkExists().forPath("/view/holdfast/locks")).isNotNull();
        try (LockClient same = LockClient.builder(ZooKeeperStores.on(stranger.usingNamespace("view")))
                        .build();
                LockClient other = LockClient.builder(ZooKeeperStores.on(stranger.usingNamespace("another")))
                        .build();
                Hold theirs = other.lock("a").acquire()) {
            assertThat(theirs.isValid()).isTrue();
            assertThat(same.lock("a").tryAcquire()).isEmpty();
        }
        assertThat(hold.isValid()).isTrue();

        curator.close(); // which the view reports, too

        await().atMost(30, TimeUnit.SECONDS).until(() -> !hold.isValid());
        client.close();
    }

    @Test
    void aViewThatRemovesItsWatchesKeepsLocks() throws Exception {
        CuratorFramework view = stranger.usingNamespace("removing").newWatcherRemoveCuratorFramework();
        try (LockClient client = LockClient.builder(ZooKeeperStores.on(view)).build();
                Hold hold = client.lock("a").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(stranger.checkExists().forPath("/removing/holdfast/locks"))
                    .isNotNull();
        }
    }

    @Test
    void nodesHaveTheRightsThatTheClientGivesToItsNodes() throws Exception {
        isClosedToStrangers("closed", curator -> ZooKeeperStores.on(curator));
    }

    @Test
    void nodesOfAViewHaveThemToo() throws Exception {
        isClosedToStrangers("closed2/inner", curator -> ZooKeeperStores.on(curator.usingNamespace("closed2/inner")));
    }

    private static void isClosedToStrangers(String namespace, Function<CuratorFramework, StoreFactory> stores)
            throws Exception {
        CuratorFramework curator = started(builder()
                .namespace(namespace)
                .authorization("digest", "shop:secret".getBytes(UTF_8))
                .aclProvider(new CreatorAll()));
        try (LockClient client = LockClient.builder(stores.apply(curator)).build();
                Hold held = client.lock("a").acquire();
                Hold reading = client.readWriteLock("b").read().acquire();
                Hold permit = client.semaphore("c", 2).acquire()) {
            assertThat(client.once("d", OnceOptions.defaults()).run(turn -> {}).ran())
                    .isTrue();
            ZooKeeperFence.on(curator).check("a", held.token());
            List<String> open = new ArrayList<>();
            CuratorFramework all = curator.usingNamespace(null);
            int seen = addOpen(all, "/" + namespace + "/holdfast", open);
            assertThat(open).isEmpty();
            assertThat(seen).isGreaterThan(10);
            assertThatThrownBy(() -> stranger.getChildren().forPath("/" + namespace + "/holdfast/locks"))
                    .isInstanceOf(KeeperException.NoAuthException.class);
            assertThat(reading.isValid() && permit.isValid()).isTrue();
        } finally {
            curator.close();
        }
    }

    @Test
    void anOptionGoesBeforeTheRightsOfTheClient() throws Exception {
        CuratorFramework curator = started(builder()
                .namespace("opened")
                .authorization("digest", "shop:secret".getBytes(UTF_8))
                .aclProvider(new CreatorAll()));
        ZooKeeperOptions open = ZooKeeperOptions.defaults().acls(new Open());
        try (LockClient client =
                        LockClient.builder(ZooKeeperStores.on(curator, open)).build();
                Hold hold = client.lock("a").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThat(stranger.getChildren().forPath("/opened/holdfast/locks")).isNotEmpty();
        } finally {
            curator.close();
        }
    }

    /** Of nodes that are there throughout: what was released or cleared away meanwhile has rights no more. */
    private static int addOpen(CuratorFramework all, String path, List<String> open) throws Exception {
        int seen = 1;
        try {
            if (all.getACL().forPath(path).stream()
                    .anyMatch(acl -> !acl.getId().getScheme().equals("digest"))) {
                open.add(path);
            }
            for (String child : all.getChildren().forPath(path)) {
                seen += addOpen(all, path + "/" + child, open);
            }
        } catch (KeeperException.NoNodeException gone) {
            return 0;
        }
        return seen;
    }

    private record CreatorAll() implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.CREATOR_ALL_ACL;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return getDefaultAcl();
        }
    }

    private record Open() implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return getDefaultAcl();
        }
    }
}
