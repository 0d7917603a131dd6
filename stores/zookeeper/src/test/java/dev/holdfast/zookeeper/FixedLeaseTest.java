package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A fixed lease ends at its time, though the session that keeps the lock is shorter or longer. */
@Timeout(120)
class FixedLeaseTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(60);
    private static final HoldOptions FIXED = HoldOptions.defaults().autoRenew(false);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    @Test
    void aLeaseShorterThanTheSessionEndsByTheClientsOwnDelete() throws Exception {
        Duration lease = Duration.ofSeconds(5);
        try (LockClient client = LockClient.connect(ZooKeeperServers.url(server, "60s"));
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            Hold hold = client.lock("short", FIXED.lease(lease)).acquire();
            long since = System.nanoTime();
            CompletableFuture<Hold> next = rival.lock("short").acquireAsync();
            assertThat(hold.remaining()).isBetween(Duration.ofMillis(1), lease);

            boolean overlapped =
                    next.thenApply(granted -> hold.isValid()).get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);

            assertThat(overlapped).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(Duration.ofSeconds(30));
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            next.join().close();
        }
    }

    @Test
    @Tag("thorough")
    void aLeaseLongerThanTheSessionLastsUntilItsEnd() throws Exception {
        Duration lease = Duration.ofSeconds(6);
        try (LockClient client = LockClient.connect(ZooKeeperServers.url(server, "4s"));
                LockClient rival = LockClient.connect(ZooKeeperServers.url(server))) {
            long before = System.nanoTime();
            Hold hold = client.lock("long", FIXED.lease(lease)).acquire();
            CompletableFuture<Hold> next = rival.lock("long").acquireAsync();

            next.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS).close();

            assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(lease);
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
    }

    @Test
    void aLeaseThatIsExtendedCountsFromThen() throws Exception {
        try (LockClient client = LockClient.connect(ZooKeeperServers.url(server, "60s"))) {
            Hold hold =
                    client.lock("extended", FIXED.lease(Duration.ofSeconds(50))).acquire();

            hold.extend(Duration.ofSeconds(2));

            await().atMost(TIME_LIMIT).until(() -> !hold.isValid());
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            await().atMost(TIME_LIMIT)
                    .until(() -> client.lock("extended")
                            .tryAcquire()
                            .map(again -> {
                                again.close();
                                return true;
                            })
                            .orElse(false));
        }
    }

    @Test
    void aFixedLeaseThatIsHandedOverBeginsAgain() throws Exception {
        HoldOptions options = FIXED.lease(Duration.ofSeconds(15));
        try (LockClient client = LockClient.connect(ZooKeeperServers.url(server, "60s"))) {
            Hold first = client.lock("handed", options).acquire();
            CompletableFuture<Hold> fixed =
                    client.lock("handed", FIXED.lease(Duration.ofSeconds(50))).acquireAsync();
            first.close();
            Hold second = fixed.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(second.remaining()).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(50));

            CompletableFuture<Hold> renewed = client.lock("handed").acquireAsync();
            second.close();
            Hold third = renewed.get(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS);
            assertThat(third.isValid()).isTrue();
            third.close();
        }
    }

    @Test
    void aClientGetsTheSessionItRequestsAndAReportIfTheServersGiveAnother() throws Exception {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        Logger log = Logger.getLogger("dev.holdfast.zookeeper");
        Handler recorder = new Recorder(lines);
        log.addHandler(recorder);
        try {
            assertThat(remainingWith(Duration.ofSeconds(10))).isBetween(Duration.ofSeconds(3), Duration.ofSeconds(10));
            assertThat(lines).isEmpty();

            assertThat(remainingWith(Duration.ofDays(1))).isBetween(Duration.ofSeconds(20), Duration.ofSeconds(60));
            assertThat(lines)
                    .singleElement()
                    .asString()
                    .contains("gives sessions of 60 s where 86400 s were asked for");
            lines.clear();

            assertThat(remainingWith(Duration.ofMillis(700))).isLessThanOrEqualTo(Duration.ofSeconds(2));
            assertThat(lines).singleElement().asString().contains("gives sessions of 2 s where 700 ms were asked for");
        } finally {
            log.removeHandler(recorder);
        }
    }

    private static Duration remainingWith(Duration session) throws InterruptedException {
        String url = "zk://" + server.connectString() + "?timeout=2s&tick=300ms";
        try (LockClient client = LockClient.builder(url).session(session).build();
                Hold hold = client.lock("asked").acquire()) {
            return hold.remaining();
        }
    }

    /** Keeps what is logged. */
    private static final class Recorder extends Handler {
        private final Queue<String> lines;

        Recorder(Queue<String> lines) {
            this.lines = lines;
        }

        @Override
        public void publish(LogRecord line) {
            lines.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
