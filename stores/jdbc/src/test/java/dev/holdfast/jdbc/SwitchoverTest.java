package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A planned switchover: the connections that are open lead to a server that takes no writes any more. */
class SwitchoverTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @Test
    void onPostgresAHoldGoesOnByNewConnections() throws SQLException {
        try (PostgresServer server = orSkip(() -> PostgresServer.start())) {
            AtomicInteger opened = new AtomicInteger();
            int before;
            try (Store store = ServerStore.open(
                    new PostgresDialect(),
                    JdbcOptions.defaults().connections(1),
                    () -> {
                        opened.incrementAndGet();
                        return DriverManager.getConnection(server.jdbcUrl());
                    },
                    "switched",
                    System::nanoTime,
                    false)) {
                Grant grant = Rig.get(store.claim(Rig.claim("kept")).answer()).orElseThrow();
                try (Connection administrator = DriverManager.getConnection(server.jdbcUrl());
                        Statement statement = administrator.createStatement()) {
                    // PostgreSQL has no such thing for a single session of another: all of them become read-only, and
                    // the new ones, as those to a new primary, are not.
                    statement.execute("ALTER SYSTEM SET default_transaction_read_only = on");
                    statement.execute("SELECT pg_reload_conf()");
                    await().atMost(SOON).until(() -> isReadOnly(server));
                    before = opened.get();
                    statement.execute("SET default_transaction_read_only = off");
                    statement.execute("ALTER ROLE postgres SET default_transaction_read_only = off");
                }

                assertThat(Rig.get(store.renew(List.of(grant))).get(grant.id()).verdict())
                        .isEqualTo(Verdict.HELD);
                assertThat(opened.get()).isGreaterThan(before);
                assertThat(Rig.get(store.release(grant))).isTrue();
            }
        }
    }

    private static boolean isReadOnly(PostgresServer server) throws SQLException {
        try (Connection fresh = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = fresh.createStatement();
                var row = statement.executeQuery("SHOW transaction_read_only")) {
            row.next();
            return row.getString(1).equals("on");
        }
    }

    @Test
    void onMariaDbAWaitOutlivesTheTimeInWhichNoServerTakesWrites() throws SQLException {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start());
                Connection administrator = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = administrator.createStatement()) {
            LockUser.create(statement);
            String url = server.jdbcUrl().replace("user=root", "user=locks");
            AtomicBoolean lapsed = new AtomicBoolean();
            try (Store holder = LockUser.store(url);
                    Store waiter = LockUser.store(url)) {
                Grant grant = Rig.get(holder.claim(Rig.claim("kept")).answer()).orElseThrow();
                statement.execute("SET GLOBAL read_only = ON");
                Pending waiting = waiter.claim(Rig.waiting("kept"));
                waiting.answer().whenComplete((next, failure) -> lapsed.set(failure != null));
                assertThat(Rig.get(holder.renew(List.of(grant)).exceptionally(unavailable -> java.util.Map.of())))
                        .isEmpty();

                statement.execute("SET GLOBAL read_only = OFF");

                await().atMost(SOON).until(() -> Rig.get(holder.status("kept")).waiting() == 1);
                assertThat(Rig.get(holder.release(grant))).isTrue();
                assertThat(Rig.get(waiting.answer())).isPresent();
                assertThat(lapsed).isFalse();
            }
        }
    }

    /** An account that a read-only server holds back, as it does not root. */
    private static final class LockUser {
        private LockUser() {}

        static void create(Statement statement) throws SQLException {
            statement.execute("CREATE DATABASE guarded");
            statement.execute("CREATE USER locks@'127.0.0.1'");
            statement.execute("GRANT ALL ON guarded.* TO locks@'127.0.0.1'");
        }

        static Store store(String url) {
            return new JdbcStoreProvider()
                    .open(
                            url.replace("/test?", "/guarded?"),
                            new dev.holdfast.spi.StoreContext(new ServerCases.NoTimer()));
        }
    }
}
