package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A planned switchover: what was the primary takes no writes any more, and leaves the connections that are open. Its locks
 * say nothing about those of the new primary, so nobody may go on to rely on them.
 */
@Tag("thorough")
@Timeout(120)
class SessionSwitchoverTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @RegisterExtension
    static final BothServers servers = new BothServers();

    @AfterEach
    void takeWritesAgain() throws SQLException {
        readOnly("postgresql", false);
        readOnly("mariadb", false);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aHoldOfAServerThatTakesNoWritesAnyMoreIsLost(String database) throws Exception {
        try (LockClient client = LockClient.connect(servers.sessions(database))) {
            Hold hold = client.lock(database + " kept").acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            readOnly(database, true);
            lost.get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertThat(hold.isValid()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            assertThatThrownBy(() -> client.lock(database + " other").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("accepts no writes");
            readOnly(database, false);
            await().atMost(SOON).until(() -> isAcquired(client, database + " kept"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aWaitOutlivesTheTimeInWhichNoServerTakesWrites(String database) throws Exception {
        try (LockClient one = LockClient.connect(servers.sessions(database));
                LockClient two = LockClient.connect(servers.sessions(database))) {
            Hold hold = one.lock(database + " awaited").acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            CompletableFuture<Hold> next =
                    two.lock(database + " awaited").acquireAsync().toCompletableFuture();
            readOnly(database, true);
            lost.get(SOON.toSeconds(), TimeUnit.SECONDS);
            assertThat(next).isNotDone();
            readOnly(database, false);
            next.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    private static boolean isAcquired(LockClient client, String name) throws InterruptedException {
        Optional<Hold> hold = client.lock(name).tryAcquire();
        hold.ifPresent(Hold::close);
        return hold.isPresent();
    }

    /** An administrator's account may write on a MariaDB that is read-only; PostgreSQL has this for all accounts. */
    private static void readOnly(String database, boolean on) throws SQLException {
        if (database.equals("mariadb")) {
            servers.sql(database, "SET GLOBAL read_only = " + on);
        } else {
            servers.sql(
                    database,
                    "ALTER SYSTEM SET default_transaction_read_only = " + (on ? "on" : "off"),
                    "SELECT pg_reload_conf()");
            await().atMost(SOON)
                    .until(() -> servers.count(
                                    database,
                                    "SELECT CASE current_setting('transaction_read_only') WHEN 'on' THEN 1 ELSE 0 END")
                            == (on ? 1 : 0));
        }
    }
}
