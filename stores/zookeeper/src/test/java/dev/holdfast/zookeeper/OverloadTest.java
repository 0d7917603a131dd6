package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.DistributedLock;
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
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The servers answer, but carry out nothing that waited in their queue for too long. */
@Timeout(120)
@Tag("thorough")
class OverloadTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);
    private static final Map<String, String> THROTTLED = Map.of(
            "tickTime", "300",
            "maxSessionTimeout", "60000",
            "globalOutstandingLimit", "100000",
            "request_throttle_max_requests", "1",
            "throttled_op_wait_time", "100");

    @Test
    void aWaitReportsAnOverloadAndOutlastsItAndAReleaseIsCarriedOut() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        LockListener listener = new LockListener() {
            @Override
            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                told.add(String.valueOf(event.reason()));
            }
        };
        try (ZooKeeperServer server = ZooKeeperServer.start(THROTTLED, ZooKeeperServers.FLAGS);
                LockClient client = LockClient.builder(ZooKeeperServers.url(server, "30s"))
                        .listener(listener)
                        .build()) {
            Hold held = client.lock("held").acquire();
            CompletableFuture<Hold> patient;
            try (Flood flood = Flood.of(server)) {
                await().atMost(TIME_LIMIT).until(flood::isThrottled);
                patient = waitThatMeetsIt(client.lock("wanted"), told);
                await().atMost(TIME_LIMIT)
                        .untilAsserted(() -> assertThatThrownBy(
                                        () -> client.lock("tried").tryAcquire().ifPresent(Hold::close))
                                .isInstanceOf(StoreUnavailableException.class)
                                .hasMessageContaining("has too much to do"));
                held.close();
            }

            patient.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
            await().atMost(TIME_LIMIT).until(() -> client.list("*").isEmpty());
        }
    }

    private static boolean isOverload(String reason) {
        return reason.contains("has too much to do");
    }

    /** Some are served in a moment between; to others the server, beside much else, gives no answer in time. */
    private static CompletableFuture<Hold> waitThatMeetsIt(DistributedLock lock, List<String> told) throws Exception {
        while (true) {
            CompletableFuture<Hold> wait = lock.acquireAsync();
            await().atMost(Duration.ofSeconds(5)) // no poll would notice so soon
                    .until(() -> wait.isDone() || !told.isEmpty());
            if (told.stream().anyMatch(OverloadTest::isOverload)) {
                return wait;
            }
            wait.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    /** Very many reads, always under way. */
    private static final class Flood implements AutoCloseable {
        private static final int UNDER_WAY = 10_000;

        private final ZooKeeper zooKeeper;
        private volatile boolean throttled;
        private volatile boolean closed;

        private Flood(ZooKeeper zooKeeper) {
            this.zooKeeper = zooKeeper;
        }

        static Flood of(ZooKeeperServer server) throws Exception {
            CompletableFuture<Void> connected = new CompletableFuture<>();
            ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 30_000, event -> connected.complete(null));
            connected.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            Flood flood = new Flood(zooKeeper);
            for (int i = 0; i < UNDER_WAY; i++) {
                flood.read();
            }
            return flood;
        }

        boolean isThrottled() {
            return throttled;
        }

        private void read() {
            zooKeeper.exists("/", false, (code, path, context, stat) -> answered(stat == null), null);
        }

        private void answered(boolean refused) {
            throttled = refused;
            if (!closed) {
                read();
            }
        }

        @Override
        public void close() throws InterruptedException {
            closed = true;
            zooKeeper.close();
        }
    }
}
