package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A renewal whose bytes arrive after those of a later one, since its connection broke on the way. */
@Tag("thorough")
class LateRenewalTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    /** For which this test may stand still on a busy machine. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private static final Duration SHORT = Duration.ofSeconds(20);
    private static final Duration LONG = Duration.ofMinutes(5);

    @Started
    private static PostgresServer server;

    @Test
    void leavesNoHolderWithADeadlineBehindTheEndOfItsLease() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.builder(context -> ServerStore.open(
                                new PostgresDialect(),
                                JdbcOptions.defaults().connections(1),
                                () -> DriverManager.getConnection(url(broken.get() ? server.port() : proxy.port())),
                                "through a proxy",
                                context.time(),
                                false))
                        .build();
                LockClient watcher = LockClient.connect(server.jdbcUrl())) {
            Hold hold = client.lock("late", HoldOptions.defaults().lease(LONG).autoRenew(false))
                    .acquire();
            survive(PAUSE); // a connection that was idle for longer than ever is tried first, and no renewal is sent on
            // it
            hold.extend(LONG);
            proxy.toServer().hold();
            broken.set(true);
            assertThatThrownBy(() -> hold.extend(SHORT)).isInstanceOf(StoreUnavailableException.class);

            hold.extend(LONG);
            assertThat(left(watcher)).as("the second has arrived").isGreaterThan(SHORT);
            proxy.toServer().resume();

            await().atMost(SOON).until(() -> left(watcher).compareTo(SHORT) <= 0);
            assertThat(hold.remaining()).isLessThanOrEqualTo(left(watcher));
        }
    }

    private static void survive(Duration pause) {
        long began = System.nanoTime();
        await().until(() -> System.nanoTime() - began > pause.toNanos());
    }

    private static Duration left(LockClient watcher) {
        return watcher.lock("late").status().grant().orElseThrow().leaseLeft();
    }

    private static String url(int port) {
        return server.jdbcUrl().replace(":" + server.port() + "/", ":" + port + "/") + "&socketTimeout=4";
    }
}
