package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.support.ElapsedTime;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.TcpProxy;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A request that fails must not be retried for ever. */
@Timeout(120)
class ConnectionTest {
    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    private final KitTime time = new KitTime();
    private final ElapsedTime elapsed = ElapsedTime.of(time);
    private final AtomicInteger runs = new AtomicInteger();
    private CuratorFramework curator;
    private Connection connection;

    @BeforeEach
    void connect() throws Exception {
        curator = CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100));
        connection = new Connection(curator, elapsed, Duration.ofMillis(300), elapsed::now);
        curator.start();
        curator.blockUntilConnected();
        connection.open(new SilentListener());
        connection.first().get(60, TimeUnit.SECONDS);
    }

    @AfterEach
    void disconnect() {
        curator.close();
        time.close();
    }

    @Test
    void nothingIsDoneAnyMoreOnceItIsClosed() {
        connection.whenConnected(new CompletableFuture<>(), session -> runs.incrementAndGet());
        connection.close();

        connection.whenConnected(new CompletableFuture<>(), session -> runs.incrementAndGet());

        assertThat(runs).hasValue(1);
    }

    @Test
    void nothingIsDoneInASessionThatTheClientLibraryHasGivenUp() throws Exception {
        curator.getZookeeperClient().getZooKeeper().close();

        connection.whenConnected(new CompletableFuture<>(), session -> {
            if (!session.isAlive()) {
                runs.incrementAndGet();
            }
        });

        assertThat(runs).hasValue(0);
    }

    /** The client library says that it is connected until it begins the next try. */
    @Test
    void aConnectionThatBrokeIsNotTakenForBackBeforeAnAnswerComes() throws Exception {
        CountingListener events = new CountingListener();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                CuratorFramework far =
                        CuratorFrameworkFactory.newClient("127.0.0.1:" + proxy.port(), new RetryOneTime(100))) {
            Connection broken = new Connection(far, elapsed, Duration.ofMillis(300), elapsed::now);
            far.start();
            far.blockUntilConnected();
            broken.open(events);
            broken.first().get(60, TimeUnit.SECONDS);

            proxy.refuse();
            proxy.cut();
            await().until(() -> events.suspended.get() > 0);
            await().during(Duration.ofSeconds(3)).until(() -> events.connected.get() == 0);
            assertThat(broken.session()).isNull();

            proxy.accept();
            await().until(() -> events.connected.get() > 0);
            broken.close();
        }
    }

    /** Counts the reports that it receives; the events of a connection come in their order. */
    private static final class CountingListener implements Connection.Listener {
        private final AtomicInteger suspended = new AtomicInteger();
        /** Since the connection broke. */
        private final AtomicInteger connected = new AtomicInteger();

        @Override
        public void suspended(Session session) {
            connected.set(0);
            suspended.incrementAndGet();
        }

        @Override
        public void connected(Session session) {
            connected.incrementAndGet();
        }

        @Override
        public void ended(Session session) {}
    }

    /** Ignores all events. */
    private static final class SilentListener implements Connection.Listener {
        @Override
        public void suspended(Session session) {}

        @Override
        public void connected(Session session) {}

        @Override
        public void ended(Session session) {}
    }
}
