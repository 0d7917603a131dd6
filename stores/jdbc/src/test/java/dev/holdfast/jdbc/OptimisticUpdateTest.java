package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.jdbc.OptimisticUpdate.Outcome;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Updates that are refused when somebody else was faster, on each database. */
@Tag("thorough")
@Timeout(120)
class OptimisticUpdateTest {
    private static final OptimisticUpdate ACCOUNTS = OptimisticUpdate.byVersion("account", "id", "version");

    @TempDir
    private static Path folder;

    @Started
    private static MariaDbServer mariaDb;

    @Started
    private static PostgresServer postgres;

    @BeforeAll
    static void createTables() throws SQLException {
        for (String database : List.of("postgresql", "mariadb", "h2", "sqlite")) {
            execute(
                    database,
                    "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL, owner VARCHAR(20),"
                            + " version BIGINT DEFAULT 0)");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void theFourAnswersAreToldApart(String database) throws Exception {
        account(database, 1, 200);
        assertThat(ACCOUNTS.update(pool(database), 1, row -> minus(row, 100)))
                .isEqualTo(new OptimisticUpdate.Result(Outcome.UPDATED, 1));
        assertThat(ACCOUNTS.update(pool(database), 1, row -> minus(row, 150)).outcome())
                .isEqualTo(Outcome.UNCHANGED);
        assertThat(ACCOUNTS.update(pool(database), 99, row -> minus(row, 150)).outcome())
                .isEqualTo(Outcome.MISSING);
        AtomicInteger asked = new AtomicInteger();
        assertThat(ACCOUNTS.attempts(3).longestPause(Duration.ZERO).update(pool(database), 1, row -> {
                    asked.incrementAndGet();
                    long read = row.getLong("balance");
                    meddle(database, row);
                    return Map.of("balance", read - 1);
                }))
                .isEqualTo(new OptimisticUpdate.Result(Outcome.GAVE_UP, 3));
        assertThat(asked).hasValue(3);
        assertThat(balance(database, 1)).isEqualTo(100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void oneAttemptIsPartOfTheCallersTransaction(String database) throws Exception {
        account(database, 2, 200);
        try (Connection connection = connect(database)) {
            connection.setAutoCommit(false);
            assertThat(ACCOUNTS.attempt(connection, 2, row -> Map.of("balance", 1)))
                    .isEqualTo(Outcome.UPDATED);
            connection.rollback();
            assertThat(balance(database, 2)).isEqualTo(200);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            assertThat(ACCOUNTS.attempt(connection, 2, row -> {
                        execute(database, "UPDATE account SET version = version + 1 WHERE id = 2");
                        return Map.of("balance", 1);
                    }))
                    .isEqualTo(Outcome.CONFLICT);
            connection.rollback();
            assertThat(ACCOUNTS.attempt(connection, 2, row -> {
                        execute(database, "DELETE FROM account WHERE id = 2");
                        return Map.of("balance", 1);
                    }))
                    .isEqualTo(Outcome.CONFLICT);
            connection.rollback();
            assertThat(ACCOUNTS.attempt(connection, 2, row -> Map.of("balance", 1)))
                    .isEqualTo(Outcome.MISSING);
            connection.rollback();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void noUpdateOfManyWritersIsLost(String database) throws Exception {
        account(database, 3, 0);
        OptimisticUpdate patient = ACCOUNTS.attempts(1_000).longestPause(Duration.ofMillis(20));
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all.add(CompletableFuture.runAsync(() -> add(patient, database, 3, 10)));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(100, TimeUnit.SECONDS);
        }
        assertThat(balance(database, 3)).isEqualTo(80);
    }

    /** As coarse as a whole second: without a step of its own two updates of one second would look alike. */
    @ParameterizedTest
    @CsvSource({
        "postgresql, TIMESTAMP(0)",
        "postgresql, TIMESTAMPTZ",
        "mariadb, DATETIME",
        "mariadb, TIMESTAMP(6)",
        "mysql, TIMESTAMP(6)",
        "h2, TIMESTAMP(3)",
        "h2, TIMESTAMP WITH TIME ZONE"
    })
    void aTimestampIsLaterAfterEachUpdate(String database, String type) throws Exception {
        String table = "timed_" + Math.floorMod((database + type).hashCode(), 1_000_000);
        execute(
                database,
                "CREATE TABLE " + table + " (id INT PRIMARY KEY, balance BIGINT NOT NULL, updated_at " + type
                        + " NOT NULL)",
                "INSERT INTO " + table + " VALUES (4, 0, CURRENT_TIMESTAMP)");
        OptimisticUpdate timed = OptimisticUpdate.byTimestamp(table, "id", "updated_at")
                .attempts(1_000)
                .longestPause(Duration.ofMillis(20));
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(CompletableFuture.runAsync(() -> add(timed, database, 4, 5)));
        }
        for (CompletableFuture<Void> each : all) {
            each.get(100, TimeUnit.SECONDS);
        }
        try (Connection connection = connect(database)) {
            assertThat(timed.attempt(connection, 4, row -> {
                        assertThat(row.getLong("balance")).isEqualTo(20);
                        assertThat(row.getInt(1))
                                .as("columns in the table's order")
                                .isEqualTo(4);
                        add(timed, database, 4, 1);
                        return Map.of("balance", 0);
                    }))
                    .isEqualTo(Outcome.CONFLICT);
            if (type.endsWith("(6)")) {
                boolean past = SqlSession.only(
                        connection,
                        "SELECT CURRENT_TIMESTAMP(6) >= updated_at FROM " + table,
                        row -> row.getBoolean(1));
                assertThat(past).isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void aVersionColumnThatDoesNotExistIsRefused(String database) throws Exception {
        account(database, 5, 200);
        OptimisticUpdate wrong = OptimisticUpdate.byVersion("account", "id", "revision");
        assertThatThrownBy(() -> wrong.update(pool(database), 5, row -> minus(row, 1)))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("'revision'")
                .hasMessageContaining("ALTER TABLE account ADD COLUMN revision BIGINT NOT NULL DEFAULT 0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void aVersionThatIsNullIsRefused(String database) throws Exception {
        account(database, 6, 200);
        execute(database, "UPDATE account SET version = NULL WHERE id = 6");
        assertThatThrownBy(() -> ACCOUNTS.update(pool(database), 6, row -> minus(row, 1)))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("is NULL");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void aColumnThatTheChangeDoesNotFindIsItsOwnFailure(String database) throws Exception {
        account(database, 7, 200);
        assertThatThrownBy(() -> ACCOUNTS.update(pool(database), 7, row -> Map.of("owner", row.getString("nobody"))))
                .isInstanceOf(SQLException.class);
    }

    @Test
    void whatIsNoNameOrNoNumberOfAttemptsIsRefused() throws Exception {
        account("h2", 8, 200);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OptimisticUpdate.byVersion("account; DROP TABLE account", "id", "version"));
        assertThatIllegalArgumentException().isThrownBy(() -> OptimisticUpdate.byVersion("account", "id = 1 --", "v"));
        assertThatIllegalArgumentException().isThrownBy(() -> ACCOUNTS.attempts(0));
        assertThatIllegalArgumentException().isThrownBy(() -> ACCOUNTS.longestPause(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ACCOUNTS.update(pool("h2"), 8, row -> Map.of("owner = 'x', balance", 1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ACCOUNTS.update(pool("h2"), 8, row -> Map.of("VERSION", 1)))
                .withMessageContaining("raised by the update itself");
    }

    @Test
    void anUpdateThatWouldBeTriedAgainInACallersTransactionIsRefused() throws Exception {
        account("h2", 9, 200);
        try (Connection connection = connect("h2")) {
            connection.setAutoCommit(false);
            assertThatIllegalStateException()
                    .isThrownBy(() -> ACCOUNTS.update(new OneConnection(connection), 9, row -> minus(row, 1)))
                    .withMessageContaining("attempt(connection");
            connection.rollback();
        }
    }

    private static Map<String, ?> minus(ResultSet row, long amount) throws SQLException {
        long balance = row.getLong("balance");
        return balance < amount ? Map.of() : Map.of("balance", balance - amount);
    }

    /** SQLite lets nobody write while a row is being read by another connection: there the reader itself does. */
    private static void meddle(String database, ResultSet row) throws SQLException {
        String raise = "UPDATE account SET version = version + 1 WHERE id = 1";
        if (database.equals("sqlite")) {
            try (Statement statement = row.getStatement().getConnection().createStatement()) {
                statement.execute(raise);
            }
        } else {
            execute(database, raise);
        }
    }

    private static void add(OptimisticUpdate update, String database, int id, int times) {
        for (int i = 0; i < times; i++) {
            try {
                assertThat(update.update(pool(database), id, row -> Map.of("balance", row.getLong("balance") + 1))
                                .outcome())
                        .isEqualTo(Outcome.UPDATED);
            } catch (SQLException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void account(String database, int id, long balance) throws SQLException {
        execute(database, "INSERT INTO account (id, balance, version) VALUES (" + id + ", " + balance + ", 0)");
    }

    private static long balance(String database, int id) throws SQLException {
        return Sql.number(url(database), "SELECT balance FROM account WHERE id = " + id);
    }

    private static void execute(String database, String... statements) throws SQLException {
        Sql.run(url(database), statements);
    }

    private static Connection connect(String database) throws SQLException {
        return DriverManager.getConnection(url(database));
    }

    private static DataSource pool(String database) {
        return PlainDataSource.of(url(database));
    }

    private static String url(String database) {
        return switch (database) {
            case "postgresql" -> postgres.jdbcUrl();
            case "mariadb" -> mariaDb.jdbcUrl();
            case "mysql" -> mariaDb.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mysql:");
            case "h2" -> "jdbc:h2:" + folder.resolve("optimistic") + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";
            default -> "jdbc:sqlite:" + folder.resolve("optimistic.db");
        };
    }
}
