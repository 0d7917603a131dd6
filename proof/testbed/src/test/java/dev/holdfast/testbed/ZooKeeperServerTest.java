package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("thorough")
class ZooKeeperServerTest {
    @Test
    void itAnswersAndKeepsWhatItWasToldOverAKill() throws Exception {
        try (ZooKeeperServer server = orSkip(() -> ZooKeeperServer.start("-Xmx128m"))) {
            assertThat(server.command("mntr")).contains("zk_server_state\tstandalone");
            try (ZooKeeper client = connect(server)) {
                client.create("/kept", bytes("7"), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            int port = server.port();
            server.process().kill();
            assertThatThrownBy(() -> server.command("ruok")).isInstanceOf(UncheckedIOException.class);
            server.process().restart();
            assertThat(server.port()).isEqualTo(port);
            try (ZooKeeper client = connect(server)) {
                assertThat(client.getData("/kept", false, null)).isEqualTo(bytes("7"));
            }
        }
    }

    @Test
    void aStoppedServerAnswersOnlyWhenContinued() throws Exception {
        try (ZooKeeperServer server = orSkip(ZooKeeperServer::start)) {
            CountDownLatch answered = new CountDownLatch(1);
            server.process().stop();
            Thread asking = new Thread(() -> {
                server.command("ruok");
                answered.countDown();
            });
            asking.start();
            assertThat(answered.await(300, TimeUnit.MILLISECONDS)).isFalse();
            server.process().cont();
            assertThat(answered.await(20, TimeUnit.SECONDS)).isTrue();
            asking.join(Duration.ofSeconds(20).toMillis());
        }
    }

    private static ZooKeeper connect(ZooKeeperServer server) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(server.connectString(), 10_000, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        assertThat(connected.await(20, TimeUnit.SECONDS)).isTrue();
        return client;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
