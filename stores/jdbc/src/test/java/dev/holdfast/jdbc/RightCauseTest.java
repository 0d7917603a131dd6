package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.testbed.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What keeps locks from being claimed is named as it is, and nothing else is called an outage. */
@Timeout(180)
class RightCauseTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @RegisterExtension
    static final BothServers servers = new BothServers();

    /** As Hikari's {@code readOnly=true}. */
    @ParameterizedTest
    @CsvSource({"mariadb, ''", "postgresql, &readOnlyMode=always"})
    void aPoolOfReadOnlyConnectionsIsRefusedAtOnce(String database, String setting) throws SQLException {
        servers.sql(database, "DROP TABLE IF EXISTS holdfast_lock");
        DataSource pool = pool(servers.url(database) + setting, Integer.MAX_VALUE, true);
        assertIsRefused(pool);
        try (LockClient writer = LockClient.connect(servers.url(database))) { // makes the table
            assertIsRefused(pool);
            assertThat(writer.list("*")).isEmpty();
        }
    }

    private static void assertIsRefused(DataSource pool) {
        assertThatThrownBy(() -> LockClient.builder(JdbcStores.on(pool)).build())
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("connections are read-only")
                .hasMessageContaining("may write");
    }

    /** PostgreSQL's driver does not apply it to single statements. */
    @Test
    void aPoolOfReadOnlyConnectionsThatMayWriteIsUsed() throws Exception {
        DataSource pool = pool(servers.url("postgresql"), Integer.MAX_VALUE, true);
        try (LockClient client = LockClient.builder(JdbcStores.on(pool)).build();
                Hold hold = client.lock("written").acquire()) {
            assertThat(hold.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aPoolThatIsTooSmallIsToldHowManyAreNeeded(String database) {
        DataSource pool = pool(servers.url(database), 1, false);
        assertThatThrownBy(() -> LockClient.builder(JdbcStores.on(pool)).build())
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(
                        "of the 2 connections that they keep (JdbcOptions.connections), only 1 could be had")
                .hasMessageContaining("one more where claims wait on PostgreSQL");
    }

    @Test
    @Tag("thorough")
    void aPoolWithoutAConnectionForNotificationsIsNoOutage() throws Exception {
        DataSource pool = pool(servers.url("postgresql"), 2, false);
        try (LockClient holder = LockClient.connect(servers.url("postgresql"));
                LockClient client = LockClient.builder(JdbcStores.on(pool)).build();
                Warnings engine = new Warnings("dev.holdfast");
                Warnings store = new Warnings("dev.holdfast.jdbc")) {
            Hold hold = holder.lock("polled").acquire();
            CompletableFuture<Hold> waiting = client.lock("polled").acquireAsync();
            await().atMost(SOON).until(() -> !store.lines().isEmpty());
            hold.close();
            waiting.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
            assertThat(store.lines())
                    .singleElement()
                    .asString()
                    .contains("poll: no connection for notifications could be opened", "one more", "all are lent");
            assertThat(engine.lines()).isEqualTo(store.lines()); // those of the child come by, too
        }
    }

    @Test
    void theEndOfTheConnectionForNotificationsAloneIsNoOutage() throws Exception {
        try (PostgresServer server = orSkip(() -> PostgresServer.start());
                LockClient holder = LockClient.connect(server.jdbcUrl());
                LockClient client = LockClient.connect(server.jdbcUrl());
                Connection administrator = DriverManager.getConnection(server.jdbcUrl());
                Warnings warnings = new Warnings("dev.holdfast")) {
            Hold hold = holder.lock("heard").acquire();
            CompletableFuture<Hold> waiting = client.lock("heard").acquireAsync();
            String listening =
                    " FROM pg_stat_activity WHERE query LIKE 'LISTEN %' OR query = 'SHOW transaction_read_only'";
            await().atMost(SOON).until(() -> count(administrator, "SELECT count(*)" + listening) == 1);
            long first = count(administrator, "SELECT pid" + listening);
            SqlSession.execute(administrator, "SELECT pg_terminate_backend(" + first + ")");
            await().atMost(SOON)
                    .until(() -> count(administrator, "SELECT count(*)" + listening + " AND pid <> " + first) == 1);
            hold.close();
            waiting.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
            assertThat(warnings.lines()).isEmpty();
        }
    }

    private static long count(Connection connection, String query) throws SQLException {
        return SqlSession.only(connection, query, row -> row.getLong(1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aRowThatSomebodyLocksIsNamedAsTheCauseOfAWait(String database) throws Exception {
        try (LockClient client = LockClient.connect(servers.url(database));
                Connection other = DriverManager.getConnection(servers.url(database));
                Warnings warnings = new Warnings("dev.holdfast")) {
            client.lock("hot", HoldOptions.defaults().awaitRelease(true))
                    .acquire()
                    .close();
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.execute("SELECT * FROM holdfast_lock WHERE name = 'hot' FOR UPDATE");
            }
            CompletableFuture<Hold> waiting = client.lock("hot").acquireAsync();
            await().atMost(SOON).until(() -> !warnings.lines().isEmpty());
            other.rollback();
            waiting.get(SOON.toSeconds(), TimeUnit.SECONDS).close();
            assertThat(warnings.lines())
                    .singleElement()
                    .asString()
                    .contains("cannot serve 1 waiting caller(s)", "which session locks the table or the row")
                    .doesNotContain("cannot be reached");
        }
    }

    /** A pool of so many connections. */
    private static DataSource pool(String url, int most, boolean readOnly) {
        AtomicInteger lent = new AtomicInteger();
        return (DataSource) Proxy.newProxyInstance(
                RightCauseTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                    if (!method.getName().equals("getConnection")) {
                        throw new UnsupportedOperationException(method.getName());
                    }
                    if (lent.incrementAndGet() > most) {
                        lent.decrementAndGet();
                        throw new SQLTransientConnectionException("all are lent");
                    }
                    Connection connection = DriverManager.getConnection(url);
                    connection.setReadOnly(readOnly);
                    return lent(connection, lent);
                });
    }

    private static Connection lent(Connection connection, AtomicInteger lent) {
        return (Connection) Proxy.newProxyInstance(
                RightCauseTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        lent.decrementAndGet();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
