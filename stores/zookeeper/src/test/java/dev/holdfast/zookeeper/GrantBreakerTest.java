package dev.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.testbed.ZooKeeperServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A grant that ends after it was read, and before it is broken. */
@Timeout(120)
class GrantBreakerTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final HoldOptions ALONE = HoldOptions.defaults().handOver(0, Duration.ZERO);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    /** Done once, before the next request that deletes or changes a node. */
    private final AtomicReference<Runnable> between = new AtomicReference<>();

    private CuratorFramework curator;
    private LockClient breaker;
    private LockClient holder;
    private LockClient rival;

    @BeforeEach
    void open() throws InterruptedException {
        curator = CuratorFrameworkFactory.builder()
                .connectString(server.connectString())
                .sessionTimeoutMs(20_000)
                .retryPolicy(new RetryOneTime(100))
                .zookeeperFactory(new Interrupting())
                .build();
        curator.start();
        curator.blockUntilConnected();
        breaker = LockClient.builder(ZooKeeperStores.on(curator, ZooKeeperServers.options()))
                .build();
        holder = LockClient.connect(ZooKeeperServers.url(server));
        rival = LockClient.connect(ZooKeeperServers.url(server));
    }

    @AfterEach
    void close() {
        rival.close();
        holder.close();
        breaker.close();
        curator.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aGrantThatWasReleasedMeanwhileIsNotBrokenAndNothingIsLeft(boolean now) throws Exception {
        String name = "released-" + now;
        Hold hold = holder.lock(name, ALONE).acquire();
        between.set(() -> {
            hold.close();
            await().atMost(TIME_LIMIT).until(() -> !rival.lock(name).status().isHeld());
        });

        assertThat(breaker.breakGrant(name, hold.token(), now)).isFalse();

        assertThat(between).as("done").hasValue(null);
        assertThat(rival.lock(name).status().isHeld()).isFalse();
        assertThat(rival.lock(name).status().waiting()).isZero();
        rival.lock(name).tryAcquire().orElseThrow().close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aGrantThatWasFollowedByAnotherMeanwhileIsNotBrokenNorIsTheNext(boolean now) throws Exception {
        String name = "followed-" + now;
        Hold hold = holder.lock(name, ALONE).acquire();
        CompletableFuture<Hold> waiting = rival.lock(name).acquireAsync();
        await().atMost(TIME_LIMIT).until(() -> rival.lock(name).status().waiting() == 1);
        between.set(() -> {
            hold.close();
            waiting.orTimeout(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        });

        assertThat(breaker.breakGrant(name, hold.token(), now)).isFalse();

        assertThat(between).as("done").hasValue(null);
        try (Hold next = waiting.join()) {
            assertThat(holder.lock(name).status().grant().orElseThrow().token()).isEqualTo(next.token());
            assertThat(next.isValid()).isTrue();
        }
    }

    /** As a later version may write it. */
    @Test
    void theNodeOfAHolderWhoseLeaseCannotBeReadIsLeftToItsClient() throws Exception {
        String node = curator.create()
                .creatingParentsIfNeeded()
                .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                .forPath(
                        new Paths("").lock("unreadable") + "/x-" + ClaimId.random() + "-",
                        "a lease in words".getBytes(UTF_8));
        long shown = rival.lock("unreadable").status().grant().orElseThrow().token();

        assertThat(breaker.breakGrant("unreadable", shown, false)).isTrue();

        await().during(Duration.ofMillis(300))
                .atMost(TIME_LIMIT)
                .until(() -> curator.checkExists().forPath(node) != null);
    }

    private final class Interrupting implements ZookeeperFactory {
        @Override
        public ZooKeeper newZooKeeper(String servers, int session, Watcher watcher, boolean readOnly)
                throws IOException {
            return new Interrupted(servers, session, watcher);
        }
    }

    private final class Interrupted extends ZooKeeper {
        Interrupted(String servers, int session, Watcher watcher) throws IOException {
            super(servers, session, watcher);
        }

        @Override
        public void delete(String path, int version, VoidCallback callback, Object context) {
            runBetween();
            super.delete(path, version, callback, context);
        }

        @Override
        public void setData(String path, byte[] data, int version, StatCallback callback, Object context) {
            runBetween();
            super.setData(path, data, version, callback, context);
        }

        private void runBetween() {
            Runnable task = between.getAndSet(null);
            if (task != null) {
                task.run();
            }
        }
    }
}
