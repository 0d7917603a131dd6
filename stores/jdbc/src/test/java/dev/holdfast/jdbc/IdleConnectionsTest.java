package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.LockListener;
import dev.holdfast.StoreEvent;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.TcpProxy;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers that end connections sooner than a renewal needs one. */
@Timeout(120)
@Tag("thorough")
class IdleConnectionsTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** Renewed every three seconds. */
    private static final HoldOptions HELD = HoldOptions.defaults().lease(Duration.ofSeconds(9));

    @Test
    void postgresThatEndsIdleSessionsIsNeverReportedAndItsConnectionsAreSoonKeptAlive() throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start("-c", "idle_session_timeout=2s"))) {
            holdsInPeace(
                    server.jdbcUrl(),
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast'",
                    "SELECT sum(sessions_fatal) FROM pg_stat_database");
        }
    }

    @Test
    void mariaDbThatEndsIdleSessionsIsNeverReportedAndItsConnectionsAreSoonKeptAlive() throws Exception {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start("--wait-timeout=2"))) {
            holdsInPeace(
                    server.jdbcUrl(),
                    "SELECT id FROM information_schema.processlist WHERE db IS NOT NULL AND id <> CONNECTION_ID()",
                    "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'ABORTED_CLIENTS'");
        }
    }

    @Test
    void aConnectionThatFellSilentWhileIdleIsNamedAndNotThePool() throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start());
                TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client =
                        LockClient.connect(server.jdbcUrl().replace(":" + server.port() + "/", ":" + proxy.port() + "/")
                                + "&holdfast.connections=1")) {
            Hold hold =
                    client.lock("idle", HoldOptions.defaults().autoRenew(false)).acquire();
            long acquired = System.nanoTime();
            await("idle for so long that the connection is tried before a renewal")
                    .until(() -> System.nanoTime() - acquired
                            > Duration.ofMillis(1_500).toNanos());
            proxy.toServer().hold();

            assertThatThrownBy(() -> hold.extend(Duration.ofSeconds(20)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("its connection stopped answering");
            proxy.toServer().resume();
            hold.close();
        }
    }

    private static void holdsInPeace(String url, String sessions, String ended) throws Exception {
        Queue<Object> reported = new ConcurrentLinkedQueue<>();
        Set<Long> seen = new HashSet<>();
        try (Ear ear = new Ear(reported);
                LockClient client = LockClient.builder(url + "&holdfast.connections=1")
                        .listener(new LockListener() {
                            @Override
                            public void onStoreUnreachable(StoreEvent.Unreachable event) {
                                reported.add(event);
                            }
                        })
                        .build();
                Hold hold = client.lock("idle", HELD).acquire()) {
            long[] since = {System.nanoTime()};
            await("one session outlives three renewals").atMost(SOON).until(() -> {
                assertThat(reported).isEmpty();
                if (seen.addAll(ids(url, sessions))) {
                    since[0] = System.nanoTime();
                }
                return System.nanoTime() - since[0] > Duration.ofSeconds(10).toNanos();
            });
            assertThat(hold.isValid()).isTrue();
            assertThat(ids(url, ended)).as("sessions that the server has ended").doesNotContain(0L);
        }
    }

    private static Set<Long> ids(String url, String sessions) throws Exception {
        try (SqlSession session = new SqlSession(DriverManager.getConnection(url))) {
            return Set.copyOf(session.each(sessions, row -> row.getLong(1)));
        }
    }

    /** Keeps what is warned of. */
    private static final class Ear extends Handler implements AutoCloseable {
        private final Queue<Object> warnings;
        private final Logger logger = Logger.getLogger("dev.holdfast");

        Ear(Queue<Object> warnings) {
            this.warnings = warnings;
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord line) {
            if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
                warnings.add(line.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }
}
