package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.LockMode;
import dev.holdfast.LockWaiter;
import dev.holdfast.testbed.ZooKeeperServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waiters are listed by name, in order of arrival. */
@Timeout(120)
class WaitersTest {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(30);

    @AutoClose
    private static final ZooKeeperServer server = ZooKeeperServers.quick();

    @Test
    void thoseThatWaitAreNamedAndThoseThatHoldAreNot() throws InterruptedException {
        try (LockClient holder = client("holder");
                LockClient reader = client("reader");
                LockClient writer = client("writer");
                Hold held = holder.lock("order:1").acquire();
                Hold other = holder.lock("order:2").acquire()) {
            CompletableFuture<Hold> first =
                    reader.readWriteLock("order:1").read().acquireAsync().toCompletableFuture();
            awaitWaiting(holder, 1);
            CompletableFuture<Hold> second =
                    writer.lock("order:1").acquireAsync().toCompletableFuture();
            awaitWaiting(holder, 2);

            List<LockWaiter> line = holder.waiters("order:*").orElseThrow();

            assertThat(line).extracting(LockWaiter::name).containsOnly("order:1");
            assertThat(line)
                    .extracting(LockWaiter::who)
                    .extracting(Holder::label)
                    .containsExactly("reader", "writer");
            assertThat(line).extracting(LockWaiter::mode).containsExactly(LockMode.SHARED, LockMode.EXCLUSIVE);
            assertThat(line).allMatch(each -> !each.waited().isNegative());
            assertThat(other.isValid()).isTrue();

            held.close();
            first.join().close();
            second.join().close();
            assertThat(holder.waiters("*")).contains(List.of());
        }
    }

    private static LockClient client(String label) {
        return LockClient.builder(ZooKeeperServers.url(server)).label(label).build();
    }

    private static void awaitWaiting(LockClient client, int number) {
        await().atMost(TIME_LIMIT).until(() -> client.lock("order:1").status().waiting() == number);
    }
}
