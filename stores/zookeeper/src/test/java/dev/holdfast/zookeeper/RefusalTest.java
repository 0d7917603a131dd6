package dev.holdfast.zookeeper;

import static dev.holdfast.zookeeper.RawStore.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.RecordWrite;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.spi.StoredRecord;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A failure is reported within its time, with what to do, and without secrets. */
class RefusalTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    @AutoClose
    private CuratorFramework curator;

    @BeforeEach
    void connect() throws InterruptedException {
        curator = CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100));
        curator.start();
        curator.blockUntilConnected();
    }

    @Test
    void aServerThatIsNotThere() {
        assertThatThrownBy(() -> soon(() -> open("zk://me:s3cret@127.0.0.1:" + Ports.free() + "?timeout=500ms")))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("zk://127.0.0.1")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void aServerThatAcceptsConnectionsAndNeverAnswers() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            proxy.toServer().swallow();
            assertThatThrownBy(() -> soon(() -> open("zk://127.0.0.1:" + proxy.port() + "?timeout=500ms")))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void anEnsembleOfWhichOneServerCanBeReachedIsUsedThroughThatOne() throws InterruptedException {
        String servers = "127.0.0.1:" + Ports.free() + "," + server.connectString() + ",127.0.0.1:" + Ports.free();
        try (LockClient client = open("zk://" + servers + "?tick=300ms");
                Hold hold = client.lock("half").acquire()) {
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    void aChrootThatIsNotThere() {
        assertThatThrownBy(() -> soon(() -> open(url("/nowhere/near"))))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("chroot");
    }

    @Test
    void nodesThatAreAnothersAlone() throws Exception {
        curator.create().forPath("/guarded");
        try (LockClient owner = open("zk://owner:s3cret@" + server.connectString() + "/guarded?tick=300ms");
                Hold hold = owner.lock("mine").acquire()) {
            assertThat(hold.isValid()).isTrue();
            assertThatThrownBy(() -> soon(() -> open(url("/guarded"))))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("does not let this user");
        }
    }

    @Test
    void aLockWhoseFolderMayNotBeWritten() throws Exception {
        curator.create().forPath("/readable");
        open(url("/readable")).close();
        curator.setACL().withACL(ZooDefs.Ids.READ_ACL_UNSAFE).forPath("/readable/holdfast/locks");
        try (LockClient client = open(url("/readable"))) {
            assertThatThrownBy(() -> soon(() -> client.lock("denied").acquire()))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("does not let this user");
        }
    }

    @Test
    void aNewerLayout() throws Exception {
        curator.create().creatingParentsIfNeeded().forPath("/newer/holdfast", bytes("holdfast 2"));
        assertThatThrownBy(() -> open(url("/newer")))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("version 2")
                .hasMessageContaining("upgrade");
    }

    @Test
    void aForeignNode() throws Exception {
        curator.create().creatingParentsIfNeeded().forPath("/foreign/holdfast", bytes("my own"));
        assertThatThrownBy(() -> open(url("/foreign")))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("not Holdfast's");
    }

    @Test
    void foreignChildrenOfALockArePassedOver() throws Exception {
        curator.create().forPath("/strange");
        try (LockClient client = open(url("/strange"))) {
            client.lock("odd").acquire().close();
            curator.create().forPath(new Paths("/strange").lock("odd") + "/lock-0000000000");
            try (Hold hold = client.lock("odd").tryAcquire().orElseThrow()) {
                assertThat(client.lock("odd").status().waiting()).isZero();
                assertThat(hold.isValid()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "zk:",
                "zk://",
                "zk:///chroot",
                "zk://host:port",
                "zk://host:0",
                "zk://host:2181,host:65536",
                "zk://a,,b",
                "zk://a@b@c",
                "zk://s3cret@host",
                "zk://:s3cret@host",
                "zk://u:%zz@host",
                "zk://host/a//b",
                "zk://host?session=soon",
                "zk://host?session=0s",
                "zk://host?tick",
                "zk://host?s3cret=1",
                "zk://host?disconnect=maybe",
                "zk://host?config=/no/such/file",
                "zk://host#s3cret"
            })
    void aUrlThatIsNone(String url) {
        assertThatThrownBy(() -> open(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("s3cret");
    }

    @Test
    @Tag("thorough")
    void aThousandNamesLeaveNoNode() throws Exception {
        curator.create().forPath("/many");
        try (LockClient client = open(url("/many"))) {
            for (int i = 0; i < 1_000; i++) {
                client.lock("name/" + i + "/ü.\uD83D\uDD12").acquire().close();
            }
            int layout = 3; // the chroot's child, and its two
            await().atMost(TIME_LIMIT)
                    .until(() -> curator.getZookeeperClient().getZooKeeper().getAllChildrenNumber("/many")
                            <= Paths.BUCKETS + layout);
        }
    }

    /** A node without children that never had one would never be swept away. */
    /** A container that never had a child is not swept away. */
    @Test
    void aClaimThatMayNotEnterTheLockLeavesNoNodeOfIt() throws Exception {
        ZooKeeperOptions options = ZooKeeperServers.options().acls(new ReadOnly("/closed"));
        try (LockClient client =
                LockClient.builder(ZooKeeperStores.on(curator, options)).build()) {
            assertThatThrownBy(() -> soon(() -> client.lock("closed").acquire()))
                    .isInstanceOf(StoreRefusedException.class);
            assertThat(curator.checkExists().forPath(new Paths("").lock("closed")))
                    .isNull();
        }
    }

    /** Allows no client to make nodes below some. */
    private record ReadOnly(String end) implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return path.endsWith(end) ? ZooDefs.Ids.READ_ACL_UNSAFE : getDefaultAcl();
        }
    }

    @Test
    void aClaimThatIsRefusedLeavesNoNodeOfItsLock() throws Exception {
        ZooKeeperOptions options = ZooKeeperServers.options().acls(new RefusedBelow("/x-"));
        try (LockClient client =
                LockClient.builder(ZooKeeperStores.on(curator, options)).build()) {
            assertThatThrownBy(() -> soon(() -> client.lock("refused").acquire()))
                    .isInstanceOf(StoreRefusedException.class);
            assertThat(curator.checkExists().forPath(new Paths("").lock("refused")))
                    .isNull();
        }
    }

    /** Rights that the servers refuse, for nodes of claims. */
    private record RefusedBelow(String part) implements ACLProvider {
        @Override
        public List<ACL> getDefaultAcl() {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }

        @Override
        public List<ACL> getAclForPath(String path) {
            return path.contains(part) ? List.of() : getDefaultAcl();
        }
    }

    @Test
    void theFenceAdmitsWhatIsNotLowerAndRefusesTheRest() throws Exception {
        ZooKeeperFence fence = ZooKeeperFence.on(curator);
        for (long token : List.of(5L, 5L, 7L)) {
            fence.check("stock/7", token);
        }
        assertThatThrownBy(() -> fence.check("stock/7", 6)).isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> ZooKeeperFence.on(curator).check("stock/7", 0))
                .isInstanceOf(StaleTokenException.class);
        assertThatThrownBy(() -> fence.check("stock/7", -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aValueOfAnotherProgramIsNoFence() throws Exception {
        ZooKeeperFence fence = ZooKeeperFence.on(curator);
        fence.check("foreign", 1);
        for (String foreign : List.of("", "nonsense", "007", "-1", "9223372036854775808", "99999999999999999999")) {
            curator.setData().forPath("/holdfast/fences/foreign", bytes(foreign));

            assertThatThrownBy(() -> fence.check("foreign", Long.MAX_VALUE))
                    .as(foreign)
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageEndingWith("its node is /holdfast/fences/foreign");

            assertThat(curator.getData().forPath("/holdfast/fences/foreign")).isEqualTo(bytes(foreign));
        }
    }

    @Test
    void aRecordOfAnotherProgramIsRefusedAndKeepsNoOtherFromBeingListed() throws Exception {
        Paths paths = new Paths("");
        try (KitTime time = new KitTime();
                Store store =
                        ZooKeeperStores.on(curator, ZooKeeperServers.options()).open(new StoreContext(time))) {
            for (String name : List.of("foreign", "own")) {
                RecordWrite write = new RecordWrite(name, 1, RecordWrite.ANY, "value", Duration.ofDays(1));
                assertThat(answer(store.writeRecord(write))).isPresent();
            }
            curator.setData().forPath(paths.record("foreign"), bytes("9223372036854775808 86400000 value"));

            assertThatThrownBy(() -> answer(store.readRecord("foreign")))
                    .hasCauseInstanceOf(StoreRefusedException.class);
            assertThat(answer(store.listRecords("")))
                    .extracting(StoredRecord::name)
                    .contains("own");
        }
    }

    @Test
    void theFenceOfAUrlIsTheSame() {
        ZooKeeperFence.on(curator).check("of-url", 7);
        try (StoreFence fence = new ZooKeeperStoreProvider().openFence(url(""), Optional.empty())) {
            assertThatThrownBy(() -> fence.check("of-url", 6)).isInstanceOf(StaleTokenException.class);
            fence.check("of-url", 8);
        }
        assertThatThrownBy(() -> ZooKeeperFence.on(curator).check("of-url", 7)).isInstanceOf(StaleTokenException.class);
    }

    /** A failure comes within the time-out of these tests, two seconds at most, and what a busy machine adds. */
    private static <T> T soon(Callable<T> task) throws Exception {
        long asked = System.nanoTime();
        try {
            return task.call();
        } finally {
            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(10));
        }
    }

    private static LockClient open(String url) {
        return LockClient.connect(url);
    }

    private static String url(String chroot) {
        return "zk://" + server.connectString() + chroot + "?tick=300ms&session=4s&timeout=2s";
    }

    @Test
    void aFenceThatCameFirstIsNoHindranceToLocks() throws Exception {
        CuratorFramework below = curator.usingNamespace("fenced");
        ZooKeeperFence.on(below).check("stock", 5);
        open(url("/fenced")).close();
        assertThatThrownBy(() -> ZooKeeperFence.on(below).check("stock", 4)).isInstanceOf(StaleTokenException.class);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
