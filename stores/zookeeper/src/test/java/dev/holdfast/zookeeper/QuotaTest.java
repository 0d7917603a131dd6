package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.StoreEvent;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.StatsTrack;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The servers answer, but let no more nodes be made. */
@Timeout(120)
@Tag("thorough")
class QuotaTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

    @Test
    void aWaitLastsUntilTheQuotaIsRaisedAndOneThatEndsSaysWhy() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        LockListener listener = new LockListener() {
            @Override
            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                told.add(String.valueOf(event.reason()));
            }
        };
        try (ZooKeeperServer server = ZooKeeperServer.start(Map.of("enforceQuota", "true"));
                LockClient client = LockClient.builder(ZooKeeperServers.url(server, "10s"))
                        .listener(listener)
                        .build();
                CuratorFramework administrator =
                        CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100))) {
            administrator.start();
            administrator.blockUntilConnected();
            Hold held = client.lock("held").acquire();
            limit(
                    administrator,
                    administrator.getZookeeperClient().getZooKeeper().getAllChildrenNumber("/holdfast") + 1);

            assertThatThrownBy(() -> client.lock("over").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("quota")
                    .hasMessageContaining("raise it (setquota)");
            assertThatThrownBy(() -> client.lock("over").tryAcquire(Duration.ofSeconds(5)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("raise it (setquota)");
            CompletableFuture<Hold> patient = client.lock("over").acquireAsync();
            await().atMost(TIME_LIMIT).until(() -> told.size() >= 2); // of the wait that ended, and of this one
            assertThat(patient).isNotDone();
            assertThat(told).allMatch(reason -> reason.contains("quota"));
            assertThat(held.isValid()).isTrue();
            held.close();
            CompletableFuture<Hold> alsoPatient = client.lock("another").acquireAsync();
            limit(administrator, 1_000);

            patient.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
            alsoPatient.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
            await().atMost(TIME_LIMIT).until(() -> client.list("*").isEmpty());
        }
    }

    /** As setquota of ZooKeeper's shell does. */
    private static void limit(CuratorFramework administrator, int nodes) throws Exception {
        StatsTrack most = new StatsTrack();
        most.setCountHardLimit(nodes);
        administrator
                .create()
                .orSetData()
                .creatingParentsIfNeeded()
                .forPath("/zookeeper/quota/holdfast/zookeeper_limits", most.getStatsBytes());
        if (administrator.checkExists().forPath("/zookeeper/quota/holdfast/zookeeper_stats") == null) {
            administrator
                    .create()
                    .forPath("/zookeeper/quota/holdfast/zookeeper_stats", new StatsTrack().getStatsBytes());
        }
    }
}
