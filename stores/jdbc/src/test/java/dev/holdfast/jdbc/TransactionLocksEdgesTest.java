package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.MariaDbServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks of transactions where rights, other clients or the kind of server stand in the way. */
@Tag("thorough")
@Timeout(120)
class TransactionLocksEdgesTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /** Well below the 50 s for which MariaDB and MySQL wait for a row. */
    private static final Duration SOON = Duration.ofSeconds(25);

    @RegisterExtension
    static final BothServers servers = new BothServers();

    /** The other has looked for the row and not found it, and then this one makes it and locks it. */
    @Test
    void aTryForANewNameThatAnotherHasJustLockedDoesNotWait() throws SQLException {
        try (Connection faster = begin(servers.url("mariadb"));
                Connection slower = begin(servers.url("mariadb"))) {
            JdbcLocks others = JdbcLocks.on(PlainDataSource.of(servers.url("mariadb")));
            others.inTransaction(faster).lock("there");
            DataSource late = beforeAnInsert(
                    servers.url("mariadb"), () -> others.inTransaction(faster).lock("new"));
            long began = System.nanoTime();
            assertThat(JdbcLocks.on(late).inTransaction(slower).tryLock("new")).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SOON);
            faster.rollback();
            assertThat(JdbcLocks.on(late).inTransaction(slower).tryLock("new")).isTrue();
            slower.rollback();
        }
    }

    @Test
    void aShorterLimitOfTheSessionGoesOnToCount() throws SQLException {
        try (Connection one = begin(servers.url("mariadb"));
                Connection two = begin(servers.url("mariadb"));
                Statement statement = two.createStatement()) {
            JdbcLocks locks = JdbcLocks.on(PlainDataSource.of(servers.url("mariadb")));
            locks.inTransaction(one).lock("limited");
            statement.execute("SET SESSION innodb_lock_wait_timeout = 1");
            long began = System.nanoTime();
            assertThat(locks.inTransaction(two).tryLock("limited", LONG)).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SOON);
            one.rollback();
            two.rollback();
        }
    }

    @Test
    void aFailedTransactionIsToldWhereThePoolHasNoAutocommitToo() throws SQLException {
        try (Connection connection = begin(servers.url("postgresql"));
                Connection pooled = begin(servers.url("postgresql"));
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("SELECT 1 / 0")).isInstanceOf(SQLException.class);
            JdbcLocks locks = JdbcLocks.on(new OneConnection(pooled));
            assertThatIllegalStateException()
                    .isThrownBy(() -> locks.inTransaction(connection).lock("order"))
                    .withMessageContaining("roll back");
            connection.rollback();
            try (Connection other = begin(servers.url("postgresql"))) {
                long open = SqlSession.only(
                        other,
                        "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'",
                        row -> row.getLong(1));
                assertThat(open).isZero();
            }
        }
    }

    /** PostgreSQL tells those who come second that the type of the rows exists, or the table, or a duplicate key. */
    @Test
    void aTableThatManyMakeAtTheSameTimeIsThereForAll() throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(8);
        try {
            for (int round = 0; round < 30; round++) {
                JdbcOptions options = JdbcOptions.defaults().table("together" + round);
                List<Callable<Void>> firsts = Collections.nCopies(8, () -> {
                    try (Connection connection = begin(servers.url("postgresql"))) {
                        JdbcLocks.on(PlainDataSource.of(servers.url("postgresql")), options)
                                .inTransaction(connection)
                                .lock("order");
                        connection.rollback();
                    }
                    return null;
                });
                for (Future<Void> first : clients.invokeAll(firsts)) {
                    first.get();
                }
            }
        } finally {
            clients.shutdownNow();
        }
    }

    @Test
    void aMissingRightToMakeTheTableIsToldWithTheWayOut() throws SQLException {
        try (Connection connection = DriverManager.getConnection(servers.url("postgresql"));
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE USER clerk");
            statement.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        }
        String clerks = servers.url("postgresql").replace("user=postgres", "user=clerk");
        JdbcLocks locks =
                JdbcLocks.on(PlainDataSource.of(clerks), JdbcOptions.defaults().table("clerks"));
        try (Connection connection = begin(clerks)) {
            assertThatThrownBy(() -> locks.inTransaction(connection).lock("order"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("clerks_row")
                    .hasMessageContaining("holdfast schema postgresql");
            connection.rollback();
        }
    }

    @Test
    void aRowThatWasDeletedLeavesTheTransactionsLimitsAsTheyWere() throws SQLException {
        JdbcLocks locks = JdbcLocks.on(PlainDataSource.of(servers.url("postgresql")));
        try (Connection connection = begin(servers.url("postgresql"));
                Connection other = DriverManager.getConnection(servers.url("postgresql"))) {
            locks.inTransaction(connection).lock("deleted");
            connection.rollback();
            SqlSession.execute(other, "DELETE FROM holdfast_lock_row WHERE name = 'deleted'");
            assertThatThrownBy(() -> locks.inTransaction(connection).tryLock("deleted", LONG))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
            String limit =
                    SqlSession.only(connection, "SELECT current_setting('statement_timeout')", row -> row.getString(1));
            assertThat(limit).isEqualTo("0");
            connection.rollback();
        }
    }

    /** Galera, as far as one server can be told that it is part of it. */
    @Test
    void oneOfSeveralPrimariesIsRefusedWhereALockWouldBeItsOwn() throws SQLException {
        try (MariaDbServer galera = orSkip(() -> MariaDbServer.start("--wsrep-on=ON", "--binlog-format=ROW"));
                Connection connection = begin(galera.jdbcUrl())) {
            JdbcLocks locks = JdbcLocks.on(PlainDataSource.of(galera.jdbcUrl()));
            assertThatThrownBy(() -> locks.inTransaction(connection).lock("order"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("several primaries");
            assertThatThrownBy(() -> LockClient.connect(galera.jdbcUrl() + "&mode=session"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("several primaries");
            connection.rollback();
        }
    }

    /** Something that the database is asked meanwhile. */
    @FunctionalInterface
    private interface Meanwhile {
        void run() throws SQLException;
    }

    private static DataSource beforeAnInsert(String url, Meanwhile meanwhile) {
        AtomicReference<Meanwhile> once = new AtomicReference<>(meanwhile);
        ClassLoader loader = TransactionLocksEdgesTest.class.getClassLoader();
        return (DataSource) Proxy.newProxyInstance(loader, new Class<?>[] {DataSource.class}, (proxy, asked, none) -> {
            Connection real = DriverManager.getConnection(url);
            return Proxy.newProxyInstance(loader, new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                if (method.getName().equals("prepareStatement")
                        && arguments[0].toString().startsWith("INSERT")) {
                    Meanwhile now = once.getAndSet(null);
                    if (now != null) {
                        now.run();
                    }
                }
                try {
                    return method.invoke(real, arguments);
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
        });
    }

    private static Connection begin(String url) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        return connection;
    }
}
