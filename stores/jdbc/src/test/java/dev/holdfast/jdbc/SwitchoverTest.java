package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockClient;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A planned switchover: the connections that are open lead to a server that takes no writes any more. */
@Tag("thorough")
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
                    new KitTime(),
                    false)) {
                Grant grant = Requests.get(
                                Asked.of(store, Requests.claim("kept")).answer())
                        .orElseThrow();
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

                assertThat(Requests.get(store.renew(List.of(grant)))
                                .get(grant.id())
                                .verdict())
                        .isEqualTo(Verdict.HELD);
                assertThat(opened.get()).isGreaterThan(before);
                assertThat(Requests.get(store.release(grant))).isTrue();
            }
        }
    }

    /** The words for it of PostgreSQL, and of MariaDB and MySQL: a replica, a read-only session, a read-only engine. */
    @ParameterizedTest
    @CsvSource({"25006, 0", "HY000, 1290", "HY000, 1792", "HY000, 1836"})
    void aConnectionWhoseServerTakesNoWritesIsLeftForAnother(String state, int code) throws SQLException {
        Meddling connections = new Meddling("jdbc:h2:mem:read-only-" + code + ";DB_CLOSE_DELAY=-1");
        try (Store store = connections.store(JdbcOptions.defaults().connections(1))) {
            Grant grant = Requests.get(Asked.of(store, Requests.claim("kept")).answer())
                    .orElseThrow();
            AtomicBoolean refused = new AtomicBoolean();
            connections.meddle(sql -> {
                if (sql.contains("UPDATE") && refused.compareAndSet(false, true)) {
                    throw new SQLException("this server takes no writes", state, code);
                }
            });

            assertThat(Requests.get(store.renew(List.of(grant))).get(grant.id()).verdict())
                    .isEqualTo(Verdict.HELD);

            assertThat(refused).isTrue();
        }
    }

    private static boolean isReadOnly(PostgresServer server) throws SQLException {
        return Sql.text(server.jdbcUrl(), "SHOW transaction_read_only").equals("on");
    }

    @Test
    void onPostgresAWaiterHearsTheNewPrimary() throws SQLException {
        try (PostgresServer before = orSkip(() -> PostgresServer.start());
                PostgresServer after = orSkip(() -> PostgresServer.start())) {
            AtomicReference<PostgresServer> primary = new AtomicReference<>(before);
            try (Store holder = onPrimary(primary);
                    Store waiter = onPrimary(primary)) {
                ServerStore.open(
                                new PostgresDialect(),
                                JdbcOptions.defaults(),
                                () -> DriverManager.getConnection(after.jdbcUrl()),
                                "the new primary",
                                new KitTime(),
                                false)
                        .close();
                Grant grant = Requests.get(
                                Asked.of(holder, Requests.claim("told")).answer())
                        .orElseThrow();
                Asked waiting = Asked.of(waiter, Requests.waiting("told"));
                await().atMost(SOON).until(() -> listeners(before) == 1);

                Sql.run(
                        before.jdbcUrl(),
                        "ALTER SYSTEM SET default_transaction_read_only = on",
                        "SELECT pg_reload_conf()");
                await().atMost(SOON).until(() -> isReadOnly(before));
                copy(before, after);
                primary.set(after);

                await().atMost(SOON).until(() -> listeners(after) == 1);
                await().atMost(SOON).until(() -> listeners(before) == 0);
                assertThat(Requests.get(holder.release(grant))).isTrue();
                assertThat(Requests.get(waiting.answer())).isPresent();
            }
        }
    }

    private static Store onPrimary(AtomicReference<PostgresServer> primary) throws SQLException {
        return ServerStore.open(
                new PostgresDialect(),
                JdbcOptions.defaults().connections(1),
                () -> DriverManager.getConnection(primary.get().jdbcUrl()),
                "switched",
                new KitTime(),
                false);
    }

    private static long listeners(PostgresServer server) throws SQLException {
        return Sql.number(
                server.jdbcUrl(),
                "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        + " AND (query LIKE 'LISTEN%' OR query LIKE 'SHOW transaction_read_only%')");
    }

    private static void copy(PostgresServer from, PostgresServer to) throws SQLException {
        try (Connection reader = DriverManager.getConnection(from.jdbcUrl());
                Connection writer = DriverManager.getConnection(to.jdbcUrl());
                Statement all = reader.createStatement();
                ResultSet rows = all.executeQuery("SELECT * FROM holdfast_lock WHERE name <> ''")) {
            int columns = rows.getMetaData().getColumnCount();
            String marks = String.join(", ", Collections.nCopies(columns, "?"));
            try (PreparedStatement insert =
                    writer.prepareStatement("INSERT INTO holdfast_lock VALUES (" + marks + ")")) {
                while (rows.next()) {
                    for (int column = 1; column <= columns; column++) {
                        insert.setObject(column, rows.getObject(column));
                    }
                    insert.executeUpdate();
                }
            }
        }
    }

    @Test
    void onMariaDbFewConnectionsAreOpenedWhileNoServerTakesWrites() throws SQLException {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start());
                Connection administrator = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = administrator.createStatement()) {
            LockUser.create(statement);
            AtomicInteger opened = new AtomicInteger();
            String url = LockUser.url(server.jdbcUrl().replace("user=root", "user=locks"));
            try (Store store = ServerStore.open(
                    new MariaDbDialect(),
                    JdbcOptions.defaults().connections(1),
                    () -> {
                        opened.incrementAndGet();
                        return DriverManager.getConnection(url);
                    },
                    "read-only",
                    new KitTime(),
                    false)) {
                statement.execute("SET GLOBAL read_only = ON");
                long begun = System.nanoTime();
                for (int i = 0; i < 200; i++) {
                    CompletionStage<Optional<Grant>> answer =
                            Asked.of(store, Requests.claim("lock " + i)).answer();
                    assertThatThrownBy(() -> Requests.get(answer)).isInstanceOf(StoreUnavailableException.class);
                }
                long halfSeconds = (System.nanoTime() - begun) / 500_000_000;
                assertThat(opened.get()).isLessThanOrEqualTo((int) halfSeconds + 3);
            }
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
                Grant grant = Requests.get(
                                Asked.of(holder, Requests.claim("kept")).answer())
                        .orElseThrow();
                statement.execute("SET GLOBAL read_only = ON");
                Asked waiting = Asked.of(waiter, Requests.waiting("kept"));
                waiting.answer().whenComplete((next, failure) -> lapsed.set(failure != null));
                assertThat(Requests.get(holder.renew(List.of(grant)).exceptionally(unavailable -> java.util.Map.of())))
                        .isEmpty();

                statement.execute("SET GLOBAL read_only = OFF");

                await().atMost(SOON)
                        .until(() -> Requests.get(holder.status("kept")).waiting() == 1);
                assertThat(Requests.get(holder.release(grant))).isTrue();
                assertThat(Requests.get(waiting.answer())).isPresent();
                assertThat(lapsed).isFalse();
            }
        }
    }

    @Test
    void onMariaDbAWaitThatEndsInThatTimeIsNotToldThatOthersHold() throws SQLException {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start());
                Connection administrator = DriverManager.getConnection(server.jdbcUrl());
                Statement statement = administrator.createStatement()) {
            LockUser.create(statement);
            try (LockClient client =
                    LockClient.connect(LockUser.url(server.jdbcUrl().replace("user=root", "user=locks")))) {
                statement.execute("SET GLOBAL read_only = ON");

                assertThatThrownBy(() -> client.lock("free").tryAcquire(Duration.ofSeconds(1)))
                        .isInstanceOf(StoreUnavailableException.class);
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
            return new JdbcStoreProvider().open(url(url), new StoreContext(new ServerCases.NoWallClock()));
        }

        static String url(String url) {
            return url.replace("/test?", "/guarded?");
        }
    }
}
