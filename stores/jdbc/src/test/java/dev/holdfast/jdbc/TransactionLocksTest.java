package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.MariaDbServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks that end with the caller's transaction, on each server. */
@Timeout(120)
class TransactionLocksTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    @RegisterExtension
    static final BothServers servers = new BothServers();

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aRollbackToASavepointThatWasSetFirstEndsTheLock(String database) throws SQLException {
        JdbcLocks locks = JdbcLocks.on(pool(url(database)));
        try (Connection one = begun(url(database));
                Connection two = begun(url(database))) {
            Savepoint before = one.setSavepoint();
            locks.inTransaction(one).lock("nested");
            one.rollback(before);
            assertThat(locks.inTransaction(two).tryLock("nested")).isTrue();
            one.rollback();
            two.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "mysql", "h2"})
    void aLockKeepsOtherTransactionsOutUntilCommitOrRollback(String database) throws SQLException {
        JdbcLocks locks = locks(database);
        try (Connection one = begin(database);
                Connection two = begin(database)) {
            locks.inTransaction(one).lock("order:1");
            assertThat(locks.inTransaction(one).tryLock("order:1")).isTrue();
            assertThat(locks.inTransaction(two).tryLock("order:1")).isFalse();
            assertThat(locks.inTransaction(two).tryLock("order:2")).isTrue();
            one.commit();
            assertThat(locks.inTransaction(two).tryLock("order:1")).isTrue();
            assertThat(locks.inTransaction(one).tryLock("order:1")).isFalse();
            two.rollback();
            assertThat(locks.inTransaction(one).tryLock("order:1")).isTrue();
            one.rollback();
        }
    }

    /** Also with what this process has not seen yet: another has made the row, and a transaction of a third locks it. */
    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aLockThatIsHeldIsNotWaitedForByATryOfANewProcess(String database) throws SQLException {
        try (Connection one = begin(database);
                Connection two = begin(database)) {
            locks(database).inTransaction(one).lock("known:elsewhere");
            assertThat(locks(database).inTransaction(two).tryLock("known:elsewhere"))
                    .isFalse();
            one.rollback();
            two.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aTransactionThatWaitsHasTheLockWhenTheOtherEnds(String database) throws Exception {
        JdbcLocks locks = locks(database);
        try (Connection one = begin(database);
                Connection two = begin(database)) {
            locks.inTransaction(one).lock("waited");
            CompletableFuture<Boolean> waiting = async(() -> {
                locks.inTransaction(two).lock("waited");
                return true;
            });
            assertThatThrownBy(() -> waiting.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(Exception.class);
            one.rollback();
            assertThat(waiting.get(30, TimeUnit.SECONDS)).isTrue();
            assertThat(locks.inTransaction(one).tryLock("waited")).isFalse();
            two.commit();

            locks.inTransaction(one).lock("waited");
            CompletableFuture<Boolean> timed =
                    async(() -> locks.inTransaction(two).tryLock("waited", LONG));
            assertThatThrownBy(() -> timed.get(200, TimeUnit.MILLISECONDS)).isInstanceOf(Exception.class);
            one.commit();
            assertThat(timed.get(30, TimeUnit.SECONDS)).isTrue();
            two.commit();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "mysql", "h2"})
    void aWaitThatEndsWithoutTheLockLeavesTheTransactionAndItsLimitsAsTheyWere(String database) throws SQLException {
        JdbcLocks locks = locks(database);
        try (Connection one = begin(database);
                Connection two = begin(database);
                Statement work = two.createStatement()) {
            work.execute("CREATE TABLE IF NOT EXISTS work_done (id INT)");
            work.execute("DELETE FROM work_done");
            two.commit();
            limit(database, two);
            String limit = limitOf(database, two);
            locks.inTransaction(one).lock("limited");

            work.execute("INSERT INTO work_done VALUES (1)");
            long began = System.nanoTime();
            assertThat(locks.inTransaction(two).tryLock("limited", Duration.ofMillis(300)))
                    .isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(290));
            assertThat(locks.inTransaction(two).tryLock("limited", Duration.ZERO))
                    .isFalse();
            assertThat(limitOf(database, two)).isEqualTo(limit);
            one.commit();
            assertThat(locks.inTransaction(two).tryLock("limited", LONG)).isTrue();
            assertThat(limitOf(database, two)).isEqualTo(limit);
            two.commit();

            try (ResultSet count = work.executeQuery("SELECT count(*) FROM work_done")) {
                assertThat(count.next()).isTrue();
                assertThat(count.getInt(1)).isEqualTo(1);
            }
            two.rollback();
        }
    }

    /** The absent-row trap: FOR UPDATE of a row that is not there would keep nobody out. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void ofManyTransactionsThatMeetANewNameOneHasItAtATime(String database) throws Exception {
        for (int round = 0; round < 10; round++) {
            String name = "new:" + round;
            List<CompletableFuture<Boolean>> all = new ArrayList<>();
            List<String> inside = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < 4; i++) {
                JdbcLocks locks = locks(database);
                all.add(async(() -> {
                    try (Connection connection = begin(database)) {
                        locks.inTransaction(connection).lock(name);
                        inside.add("in");
                        inside.add("out");
                        connection.rollback();
                        return true;
                    }
                }));
            }
            for (CompletableFuture<Boolean> each : all) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(inside).containsExactly("in", "out", "in", "out", "in", "out", "in", "out");
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void namesThatOnlyLookAlikeDoNotExcludeEachOther(String database) throws SQLException {
        JdbcLocks locks = locks(database);
        try (Connection one = begin(database);
                Connection two = begin(database)) {
            locks.inTransaction(one).lock("ölung");
            for (String other : List.of("Ölung", "ölung ", "o\u0308lung", "olung", "ölun", "😀".repeat(127))) {
                assertThat(locks.inTransaction(two).tryLock(other)).as(other).isTrue();
            }
            one.rollback();
            two.rollback();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aDeadlockIsThrownAsTheDatabaseSaysIt(String database) throws Exception {
        JdbcLocks locks = locks(database);
        try (Connection one = begin(database);
                Connection two = begin(database)) {
            locks.inTransaction(one).lock("left");
            locks.inTransaction(two).lock("right");
            CompletableFuture<Boolean> other = async(() -> {
                try {
                    return locks.inTransaction(two).tryLock("left", LONG);
                } catch (SQLException e) {
                    two.rollback();
                    throw e;
                }
            });
            SQLException met = null;
            try {
                assertThat(locks.inTransaction(one).tryLock("right", LONG)).isTrue();
            } catch (SQLException e) {
                met = e;
                one.rollback();
            }
            if (met == null) {
                assertThatThrownBy(() -> other.get(30, TimeUnit.SECONDS))
                        .satisfies(e -> assertThat(isDeadlock(e.getCause())).isTrue());
            } else {
                assertThat(isDeadlock(met)).isTrue();
                assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
            }
            one.rollback();
            two.rollback();
        }
    }

    private static boolean isDeadlock(Throwable failure) {
        return failure instanceof SQLException e && List.of("40P01", "40001").contains(e.getSQLState());
    }

    @Test
    void theServersOwnLimitEndsAWaitWithoutTheLock() throws SQLException {
        JdbcLocks locks = locks("postgresql");
        try (Connection one = begin("postgresql");
                Connection two = begin("postgresql");
                Statement set = two.createStatement()) {
            locks.inTransaction(one).lock("own-limit");
            set.execute("SET lock_timeout = '100ms'");
            two.commit();
            assertThat(locks.inTransaction(two).tryLock("own-limit", LONG)).isFalse();
            assertThatThrownBy(() -> locks.inTransaction(two).lock("own-limit"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("55P03"));
            two.rollback();
            set.execute("SET lock_timeout = 0");
            set.execute("SET statement_timeout = '100ms'"); // of the caller, and it ends the transaction
            two.commit();
            assertThatThrownBy(() -> locks.inTransaction(two).tryLock("own-limit", LONG))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("57014"));
            two.rollback();
            one.rollback();
        }
    }

    @Test
    void aServerThatRollsTheTransactionBackIsNoMereNo() throws SQLException {
        try (MariaDbServer strict = orSkip(() -> MariaDbServer.start("--innodb-rollback-on-timeout=ON"));
                Connection one = begun(strict.jdbcUrl());
                Connection two = begun(strict.jdbcUrl())) {
            JdbcLocks locks = JdbcLocks.on(pool(strict.jdbcUrl()));
            locks.inTransaction(one).lock("strict");
            assertThatThrownBy(() -> locks.inTransaction(two).tryLock("strict"))
                    .isInstanceOfSatisfying(SQLException.class, e -> {
                        assertThat(e.getSQLState()).isEqualTo("40001");
                        assertThat(e.getMessage()).contains("rolled this one back");
                    });
            two.rollback();
            one.rollback();
        }
    }

    @Test
    @Tag("thorough")
    void aNameThatIsNewToAnOlderSnapshotIsAConflictOfTransactions() throws SQLException {
        JdbcLocks locks = locks("postgresql");
        try (Connection connection = begin("postgresql")) {
            locks.inTransaction(connection).lock("table-is-there");
            connection.commit();
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            limitOf("postgresql", connection); // the snapshot
            assertThatThrownBy(() -> locks.inTransaction(connection).lock("new-to-the-snapshot"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
            connection.rollback();
            locks.inTransaction(connection).lock("new-to-the-snapshot");
            connection.commit();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aConnectionInAutocommitIsRefused(String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(database))) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> locks(database).inTransaction(connection).lock("order"))
                    .withMessageContaining("'order'")
                    .withMessageContaining("autocommit");
        }
    }

    @Test
    @Tag("thorough")
    void aTransactionThatHasFailedAlreadyIsRefused() throws SQLException {
        JdbcLocks locks = locks("postgresql");
        try (Connection connection = begin("postgresql");
                Statement statement = connection.createStatement()) {
            assertThatThrownBy(() -> statement.execute("SELECT 1 / 0")).isInstanceOf(SQLException.class);
            assertThatIllegalStateException()
                    .isThrownBy(() -> locks.inTransaction(connection).lock("order"))
                    .withMessageContaining("roll back");
            assertThatIllegalStateException()
                    .isThrownBy(() -> locks.inTransaction(connection).tryLock("order", LONG))
                    .withMessageContaining("roll back");
            connection.rollback();
        }
    }

    @Test
    void aDataSourceThatReturnsTheTransactionsOwnConnectionIsRefused() throws SQLException {
        for (String database : List.of("postgresql", "mariadb", "h2")) {
            try (Connection connection = begin(database)) {
                JdbcLocks locks = JdbcLocks.on(new OneConnection(connection));
                assertThatThrownBy(() -> locks.inTransaction(connection).lock("order"))
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("use the pool itself");
                connection.rollback();
            }
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aPoolWithoutAutocommitMakesTheRowsToo(String database) throws SQLException {
        try (Connection pooled = begin(database);
                Connection one = begin(database);
                Connection two = begin(database)) {
            JdbcLocks locks = JdbcLocks.on(
                    new OneConnection(pooled), JdbcOptions.defaults().table("manual"));
            locks.inTransaction(one).lock("order");
            assertThat(locks.inTransaction(two).tryLock("order")).isFalse();
            one.rollback();
            two.rollback();
        }
    }

    @Test
    void aTableThatMayNotBeCreatedIsRefused() throws SQLException {
        JdbcLocks locks = JdbcLocks.on(
                pool(url("postgresql")), JdbcOptions.defaults().table("absent").createTable(false));
        try (Connection connection = begin("postgresql")) {
            assertThatThrownBy(() -> locks.inTransaction(connection).lock("order"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("absent_row")
                    .hasMessageContaining("holdfast schema postgresql");
            connection.rollback();
        }
    }

    @Test
    void sqliteHasNoSuchLocks() throws SQLException {
        try (Connection connection = begun("jdbc:sqlite:" + folder.resolve("locks.db"))) {
            assertThatThrownBy(() -> JdbcLocks.on(new OneConnection(connection))
                            .inTransaction(connection)
                            .lock("order"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("SQLite")
                    .hasMessageContaining("PostgreSQL, MariaDB, MySQL, H2");
            connection.rollback();
        }
    }

    @Test
    void aNameThatIsNoneIsRefused() throws SQLException {
        try (Connection connection = begin("h2")) {
            for (String name : List.of("", "a\u0000b", "line\nbreak", "half \ud800", "x".repeat(256))) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> locks("h2").inTransaction(connection).lock(name));
            }
        }
    }

    private static void limit(String database, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(
                    switch (database) {
                        case "postgresql" -> "SET statement_timeout = '70s'";
                        case "h2" -> "SET LOCK_TIMEOUT 70000";
                        default -> "SET SESSION innodb_lock_wait_timeout = 70";
                    });
        }
        connection.commit();
    }

    private static String limitOf(String database, Connection connection) throws SQLException {
        return SqlSession.only(
                connection,
                switch (database) {
                    case "postgresql" -> "SELECT current_setting('statement_timeout')";
                    case "h2" -> "SELECT LOCK_TIMEOUT()";
                    default -> "SELECT @@SESSION.innodb_lock_wait_timeout";
                },
                row -> row.getString(1));
    }

    private static <T> CompletableFuture<T> async(Callable<T> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return work.call();
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                task -> new Thread(task).start());
    }

    private static JdbcLocks locks(String database) {
        return JdbcLocks.on(pool(url(database)));
    }

    private static Connection begin(String database) throws SQLException {
        return begun(url(database));
    }

    private static Connection begun(String url) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        return connection;
    }

    private static DataSource pool(String url) {
        return PlainDataSource.of(url);
    }

    private static String url(String database) {
        return switch (database) {
            case "postgresql" -> servers.url("postgresql");
            case "mariadb" -> servers.url("mariadb");
            case "mysql" -> servers.url("mariadb").replace("jdbc:mariadb:", "jdbc:mysql:");
            default -> "jdbc:h2:" + folder.resolve("transactions") + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";
        };
    }
}
