package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes of claims that another party removes: by hand, or with the client that the application lent and closed. */
@Timeout(120)
class RemovedNodeTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final int ROUNDS = 30;

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private CuratorFramework curator;
    private LockClient rival;

    @BeforeEach
    void open() throws InterruptedException {
        curator = CuratorFrameworkFactory.newClient(server.connectString(), 15_000, 15_000, new RetryOneTime(100));
        curator.start();
        curator.blockUntilConnected();
        rival = LockClient.connect(ZooKeeperServers.url(server));
    }

    @AfterEach
    void close() {
        rival.close();
        curator.close();
    }

    @Test
    void aWaiterWhoseNodeWasDeletedIsNotGrantedBesideTheNext() throws Exception {
        try (LockClient holder = LockClient.connect(ZooKeeperServers.url(server));
                LockClient waiter = LockClient.connect(ZooKeeperServers.url(server))) {
            for (int round = 0; round < ROUNDS; round++) {
                String name = "by-hand-" + round;
                Hold held = holder.lock(name).acquire();
                CompletableFuture<Hold> removed = waiter.lock(name).acquireAsync();
                awaitWaiting(name, 1);
                CompletableFuture<Hold> next = rival.lock(name).acquireAsync();
                awaitWaiting(name, 2);

                curator.delete().forPath(node(name, 1));
                held.close();

                Hold granted = next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
                assertThat(removed).as("round " + round).isNotDone();
                assertThat(granted.isValid()).isTrue();
                granted.close();
                removed.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
            }
        }
    }

    @Test
    void aLentClientThatItsOwnerClosesEndsHoldsAndWaitsAtOnce() throws Exception {
        try (LockClient client = LockClient.builder(ZooKeeperStores.on(curator, ZooKeeperServers.options()))
                .build()) {
            Hold hold = client.lock("lent").acquire();
            CompletableFuture<Hold> next = rival.lock("lent").acquireAsync();
            Hold other = rival.lock("lent-other").acquire();
            CompletableFuture<Hold> waiting = client.lock("lent-other").acquireAsync();
            awaitWaiting("lent", 1);
            awaitWaiting("lent-other", 1);
            CompletableFuture<Boolean> overlapped = next.thenApply(granted -> hold.isValid());

            curator.close();

            assertThat(overlapped.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            assertThatThrownBy(() -> waiting.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("closed by its owner");
            assertThatThrownBy(() -> client.lock("lent-new").acquire()).isInstanceOf(StoreRefusedException.class);
            assertThatThrownBy(() -> client.lock("lent").status()).isInstanceOf(StoreRefusedException.class);
            other.close();
            next.join().close();
        }
    }

    @Test
    void aWaiterThatIsBrokenBeforeItIsNotifiedOfItsTurnWaitsAgain() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient holder = LockClient.connect(ZooKeeperServers.url(server));
                LockClient waiter = LockClient.connect(ZooKeeperServers.url("127.0.0.1:" + proxy.port(), "20s"))) {
            Hold held = holder.lock("early").acquire();
            CompletableFuture<Hold> waiting = waiter.lock("early").acquireAsync();
            awaitWaiting("early", 1);
            proxy.toClient().hold();
            held.close();
            await().atMost(TIME_LIMIT).until(() -> rival.lock("early").status().waiting() == 0);
            long shown = rival.lock("early").status().grant().orElseThrow().token();

            assertThat(rival.breakGrant("early", shown, false)).isTrue();
            proxy.toClient().resume();

            try (Hold granted = waiting.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                assertThat(granted.token()).as("the grant that was broken").isGreaterThan(shown);
            }
        }
    }

    private void awaitWaiting(String name, int count) {
        await().atMost(TIME_LIMIT).until(() -> rival.lock(name).status().waiting() == count);
    }

    private String node(String name, int place) throws Exception {
        String lock = new Paths("").lock(name);
        List<Node> queue = Predecessors.of(curator.getChildren().forPath(lock));
        return lock + "/" + queue.get(place).name();
    }
}
