package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.testbed.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server whose commits wait for a synchronous standby that is not there. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("thorough")
@Timeout(180)
class AbsentStandbyTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @AutoClose
    private PostgresServer server;

    @BeforeEach
    void startServer() {
        server = orSkip(() -> PostgresServer.start());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&mode=session"})
    void aClaimThatIsNotReplicatedLeavesNoProcessBehind(String mode) throws Exception {
        try (LockClient client = LockClient.connect(server.jdbcUrl() + mode)) {
            client.lock("before").acquire().close();
            standby("gone");
            long until = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            for (int i = 0; System.nanoTime() < until; i++) {
                String name = "name " + i;
                assertThatThrownBy(() -> client.lock(name).tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("synchronous standby");
                assertThat(waitingForStandby()).isLessThanOrEqualTo(1); // of a claim that is withdrawn
            }
            await().atMost(SOON).until(() -> waitingForStandby() == 0);
            standby("");
            await().atMost(SOON)
                    .ignoreException(StoreUnavailableException.class)
                    .untilAsserted(() ->
                            client.lock("after").tryAcquire().orElseThrow().close());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&mode=session"})
    void aClientThatCannotMakeItsTableLeavesNoProcessBehind(String mode) throws Exception {
        standby("gone");
        assertThatThrownBy(() -> LockClient.connect(server.jdbcUrl() + mode).close())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("synchronous standby");
        await().atMost(SOON).until(() -> waitingForStandby() == 0);
    }

    @Test
    void aFenceThatIsNotReplicatedLeavesNoProcessBehind() throws Exception {
        try (StoreFence fence = new JdbcStoreProvider().openFence(server.jdbcUrl(), Optional.empty())) {
            fence.check("before", 1);
            standby("gone");
            assertThatThrownBy(() -> fence.check("before", 2))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("synchronous standby");
            await().atMost(SOON).until(() -> waitingForStandby() == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&mode=session"})
    void aClaimWhoseWaitForTheStandbySomebodyElseCancelsIsNotGranted(String mode) throws Exception {
        Sql.run(server.jdbcUrl(), "ALTER ROLE CURRENT_USER SET client_min_messages = error");
        try (LockClient client = LockClient.connect(server.jdbcUrl() + mode)) {
            client.lock("order:42").acquire().close();
            standby("gone");
            CompletableFuture<Optional<Hold>> claim =
                    CompletableFuture.supplyAsync(() -> client.lock("order:42").tryAcquire());

            cancelTheWaitForTheStandby();

            assertThatThrownBy(claim::join)
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("synchronous standby");
            standby("");
        }
    }

    @Test
    void aFenceWhoseWaitForTheStandbySomebodyElseCancelsHasNotChecked() throws Exception {
        Sql.run(server.jdbcUrl(), "ALTER ROLE CURRENT_USER SET client_min_messages = error");
        try (StoreFence fence = new JdbcStoreProvider().openFence(server.jdbcUrl(), Optional.empty())) {
            fence.check("before", 1);
            standby("gone");
            CompletableFuture<Void> check = CompletableFuture.runAsync(() -> fence.check("before", 2));

            cancelTheWaitForTheStandby();

            assertThatThrownBy(check::join)
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("synchronous standby");
        }
    }

    /** As an administrator does, or a watchdog, before the client's own limit. */
    private void cancelTheWaitForTheStandby() {
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> count("SELECT count(CASE WHEN wait_event = 'SyncRep' THEN pg_cancel_backend(pid) END)"
                                + " FROM pg_stat_activity")
                        > 0);
    }

    /** A renewal of a session only reads, and a release does not wait. */
    @Test
    void aHoldOfASessionOutlivesClaimsThatAreNotReplicated() throws Exception {
        try (LockClient client = LockClient.connect(server.jdbcUrl() + "&mode=session")) {
            Hold hold = client.lock("held").acquire();
            List<Loss> losses = new CopyOnWriteArrayList<>();
            hold.onLost(losses::add);
            standby("gone");
            long until = System.nanoTime() + Duration.ofSeconds(12).toNanos();
            for (int i = 0; System.nanoTime() < until; i++) {
                String name = "name " + i;
                assertThatThrownBy(() -> client.lock(name).tryAcquire()).isInstanceOf(StoreUnavailableException.class);
                assertThat(hold.isValid()).isTrue();
            }
            assertThat(losses).isEmpty();
            hold.close();
            standby("");
        }
    }

    private void standby(String name) throws Exception {
        Sql.run(
                server.jdbcUrl(),
                "ALTER SYSTEM SET synchronous_standby_names = '" + name + "'",
                "SELECT pg_reload_conf()");
        await().atMost(SOON)
                .until(() -> count("SELECT count(*) FROM pg_settings WHERE name ="
                                + " 'synchronous_standby_names' AND setting = '" + name + "'")
                        == 1);
    }

    private long waitingForStandby() throws Exception {
        return count("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    }

    private long count(String query) throws Exception {
        return Sql.number(server.jdbcUrl(), query);
    }
}
