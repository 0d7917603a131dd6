package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockStatus;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.testbed.ZooKeeperServer;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * To list locks costs no hold, however many names there are. {@code -Dnames=100000} tries with more; an answer of a
 * megabyte, which breaks a connection, holds the names of some 23,000.
 */
@Tag("thorough")
@Timeout(300)
class ManyNamesTest {
    private static final int NAMES = Integer.getInteger("names", 30_000);
    private static final int AT_ONCE = 500;
    private static final String LONG = "-and-so-on-for-a-while-as-names-do";

    private ZooKeeperServer server;
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        server = ZooKeeperServers.quick();
        curator = CuratorFrameworkFactory.newClient(server.connectString(), 60_000, 15_000, new RetryOneTime(100));
        curator.start();
        curator.blockUntilConnected();
    }

    @AfterEach
    void close() {
        curator.close();
        server.close();
    }

    @Test
    void allAreListedAndTheHoldsStayValid() throws Exception {
        try (LockClient client = LockClient.connect(ZooKeeperServers.url(server, "20s"))) {
            Hold hold = client.lock("mine").acquire();
            Queue<Loss> losses = new ConcurrentLinkedQueue<>();
            hold.onLost(losses::add);
            for (int i = 0; i < Paths.BUCKETS; i++) {
                make(bucket(i));
            }
            make(NAMES, i -> new Paths("").lock("name-" + i + LONG));

            assertThat(client.list("*")).extracting(LockStatus::name).containsExactly("mine");

            assertThat(losses).isEmpty();
            hold.close();
        }
    }

    @Test
    void moreThanOneAnswerCanHoldAreRefusedBeforeItBreaksTheConnection() throws Exception {
        try (LockClient client = LockClient.connect(ZooKeeperServers.url(server, "20s"))) {
            Hold hold = client.lock("mine").acquire();
            String full = new Paths("").bucket("mine");
            make(Buckets.MOST_IN_BUCKET, i -> full + "/name-" + i + LONG);

            assertThatThrownBy(() -> client.list("*"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("too many locks to list");

            assertThat(hold.isValid()).isTrue();
            assertThat(client.lock("mine").status().isHeld()).isTrue();
            hold.close();
        }
    }

    /** Some 21,000 are an answer that breaks the connection of each client that claims, holds or shows the lock. */
    @Test
    void aClaimBehindVeryManyOthersIsRefusedAndLeavesNothing() throws Exception {
        try (LockClient holder = LockClient.connect(ZooKeeperServers.url(server, "20s"));
                LockClient client = LockClient.connect(ZooKeeperServers.url(server, "20s"))) {
            Hold hold = holder.lock("long").acquire();
            String lock = new Paths("").lock("long");
            make(
                    Predecessors.MOST_BEFORE - 1,
                    i -> lock + "/x-" + ClaimId.random() + String.format(Locale.ROOT, "-%010d", i));

            assertThatThrownBy(() -> client.lock("long").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("claims of 'long'")
                    .hasMessageContaining("zk://" + server.connectString());

            assertThat(curator.getChildren().forPath(lock)).hasSize(Predecessors.MOST_BEFORE);
            assertThat(hold.isValid()).isTrue();
            hold.close();
        }
    }

    private static String bucket(int number) {
        return new Paths("").locks() + "/" + String.format(Locale.ROOT, "%03x", number);
    }

    private void make(int count, IntFunction<String> path) throws Exception {
        ZooKeeper zooKeeper = curator.getZookeeperClient().getZooKeeper();
        for (int from = 0; from < count; from += AT_ONCE) {
            zooKeeper.multi(IntStream.range(from, Math.min(count, from + AT_ONCE))
                    .mapToObj(path)
                    .map(each -> Op.create(each, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT))
                    .toList());
        }
    }

    private void make(String path) throws Exception {
        if (curator.checkExists().forPath(path) == null) {
            curator.create().creatingParentsIfNeeded().forPath(path);
        }
    }
}
