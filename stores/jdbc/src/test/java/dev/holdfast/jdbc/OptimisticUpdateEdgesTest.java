package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.jdbc.OptimisticUpdate.Outcome;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Optimistic updates where the database, the driver or the caller does something unusual. */
@Timeout(60)
class OptimisticUpdateEdgesTest {
    private static final String URL = "jdbc:h2:mem:edges";
    private static final OptimisticUpdate ACCOUNTS = OptimisticUpdate.byVersion("account", "id", "version");

    private final List<PreparedStatement> prepared = new ArrayList<>();

    @AutoClose
    private Connection kept;

    @BeforeEach
    void makeTable() throws SQLException {
        kept = DriverManager.getConnection(URL);
        execute(
                "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL, holdfast_version BIGINT,"
                        + " version BIGINT NOT NULL)",
                "INSERT INTO account VALUES (1, 100, -1, 0)");
    }

    @Test
    void aConnectionThatFailsToCloseTakesNothingFromTheAnswer() throws Exception {
        DataSource failing = through((method, call) -> {
            Object result = call.run();
            if (method.getName().equals("close")) {
                throw new SQLException("broken while it was closed", "40001");
            }
            return result;
        });
        OptimisticUpdate.Result result =
                ACCOUNTS.update(failing, 1, row -> Map.of("balance", row.getLong("balance") - 10));
        assertThat(result.outcome()).isEqualTo(Outcome.UPDATED);
        assertThat(balance()).isEqualTo(90);
    }

    @Test
    void aKeyThatTheDriverCannotTakeLeavesNoStatementOpen() throws Exception {
        DataSource watched = through((method, call) -> {
            Object result = call.run();
            if (result instanceof PreparedStatement statement) {
                prepared.add(statement);
            }
            return result;
        });
        try (Connection connection = watched.getConnection()) {
            assertThatThrownBy(() -> ACCOUNTS.attempt(connection, new Object(), row -> Map.of()))
                    .isInstanceOf(SQLException.class);
            for (PreparedStatement statement : prepared) {
                assertThat(statement.isClosed()).isTrue();
            }
        }
        assertThat(prepared).hasSize(1);
    }

    @Test
    void aPauseLongerThanAnyClockCountsIsAPause() throws Exception {
        OptimisticUpdate patient =
                ACCOUNTS.attempts(2).longestPause(Duration.ofDays(365).multipliedBy(1_000));
        assertThat(patient.update(pool(), 1, this::meddle).outcome()).isEqualTo(Outcome.GAVE_UP);
    }

    @Test
    void attemptsWithoutPausesAreInterrupted() {
        OptimisticUpdate hasty = ACCOUNTS.attempts(1_000).longestPause(Duration.ZERO);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> hasty.update(pool(), 1, this::meddle)).isInstanceOf(InterruptedException.class);
    }

    @Test
    void aColumnThatIsCalledLikeOursIsNotTakenForIt() throws Exception {
        assertThat(ACCOUNTS.update(pool(), 1, row -> Map.of("balance", 50)).outcome())
                .isEqualTo(Outcome.UPDATED);
        assertThat(balance()).isEqualTo(50);
    }

    @Test
    void aKeyColumnThatDoesNotExistIsNotTakenForAVersion() {
        OptimisticUpdate misspelt = OptimisticUpdate.byVersion("account", "idd", "version");
        assertThatThrownBy(() -> misspelt.update(pool(), 1, row -> Map.of()))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("IDD");
        OptimisticUpdate without = OptimisticUpdate.byVersion("account", "id", "revision");
        assertThatThrownBy(() -> without.update(pool(), 1, row -> Map.of()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("ADD COLUMN revision BIGINT");
    }

    private Map<String, ?> meddle(ResultSet row) throws SQLException {
        long balance = row.getLong("balance");
        execute("UPDATE account SET version = version + 1");
        return Map.of("balance", balance + 1);
    }

    private long balance() throws SQLException {
        return SqlSession.only(kept, "SELECT balance FROM account", row -> row.getLong(1));
    }

    private void execute(String... statements) throws SQLException {
        try (Statement statement = kept.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    private static DataSource pool() {
        return PlainDataSource.of(URL);
    }

    /** What is done around each call of a connection. */
    @FunctionalInterface
    private interface Around {
        Object call(Method method, Call call) throws Throwable;
    }

    @FunctionalInterface
    private interface Call {
        Object run() throws Throwable;
    }

    private static DataSource through(Around around) {
        ClassLoader loader = OptimisticUpdateEdgesTest.class.getClassLoader();
        return (DataSource) Proxy.newProxyInstance(loader, new Class<?>[] {DataSource.class}, (proxy, asked, none) -> {
            Connection real = DriverManager.getConnection(URL);
            return Proxy.newProxyInstance(
                    loader,
                    new Class<?>[] {Connection.class},
                    (connection, method, arguments) -> around.call(method, () -> invoke(real, method, arguments)));
        });
    }

    private static Object invoke(Connection real, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(real, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
