package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What goes wrong where applications lock rows by hand: what the page on SQL servers warns of, on the servers themselves. */
@Timeout(120)
@Tag("thorough") // of the servers, not of Holdfast
class RowLockTrapsTest {
    @RegisterExtension
    static final BothServers servers = new BothServers();

    @BeforeAll
    static void makeTables() throws SQLException {
        for (String url : new String[] {servers.url("mariadb"), servers.url("postgresql")}) {
            try (Connection connection = begin(url)) {
                execute(
                        connection,
                        "CREATE TABLE seat (id INT PRIMARY KEY, code VARCHAR(20) NOT NULL, taken INT NOT NULL)");
                execute(connection, "INSERT INTO seat VALUES (1, 'A', 0), (2, 'B', 0)");
                for (int id = 3; id <= 200; id++) { // so many that an index is worth while
                    execute(connection, "INSERT INTO seat VALUES (" + id + ", 'C" + id + "', 0)");
                }
                connection.commit();
            }
        }
    }

    @Test
    void onMariaDbALockByAColumnWithoutAnIndexLocksTheWholeTable() throws SQLException {
        try (Connection one = begin(servers.url("mariadb"));
                Connection two = begin(servers.url("mariadb"))) {
            assertThat(locks(one, "code = 'A'", "")).isOne();
            assertThatThrownBy(() -> locks(two, "id = 2", "NOWAIT"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getErrorCode()).isEqualTo(1205));
            one.rollback();
            two.rollback();

            execute(one, "CREATE INDEX seat_code ON seat (code)");
            assertThat(locks(one, "code = 'A'", "")).isOne();
            assertThat(locks(two, "id = 2", "NOWAIT")).isOne();
            one.rollback();
            two.rollback();
            execute(one, "DROP INDEX seat_code ON seat");
        }
    }

    @Test
    void onPostgresALockByAColumnWithoutAnIndexLocksOnlyWhatItFinds() throws SQLException {
        try (Connection one = begin(servers.url("postgresql"));
                Connection two = begin(servers.url("postgresql"))) {
            assertThat(locks(one, "code = 'A'", "")).isOne();
            assertThat(locks(two, "id = 2", "NOWAIT")).isOne();
            one.rollback();
            two.rollback();
        }
    }

    @Test
    void onPostgresALockOfARowThatIsNotThereKeepsNobodyOut() throws SQLException {
        try (Connection one = begin(servers.url("postgresql"));
                Connection two = begin(servers.url("postgresql"))) {
            assertThat(locks(one, "id = 777", "NOWAIT")).isZero();
            assertThat(locks(two, "id = 777", "NOWAIT")).isZero();
            execute(one, "INSERT INTO seat VALUES (777, 'X', 1)");
            CompletableFuture<Void> other = insert(two, "INSERT INTO seat VALUES (777, 'X', 2)");
            one.commit();
            assertThatThrownBy(() -> other.get(30, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(((SQLException) e.getCause()).getSQLState())
                            .isEqualTo("23505")); // only the primary key has kept it out
            two.rollback();
        }
    }

    @Test
    void onMariaDbTwoThatLockARowThatIsNotThereMeetInADeadlock() throws Exception {
        try (Connection one = begin(servers.url("mariadb"));
                Connection two = begin(servers.url("mariadb"))) {
            assertThat(locks(one, "id = 777", "NOWAIT")).isZero();
            assertThat(locks(two, "id = 777", "NOWAIT")).isZero();
            CompletableFuture<Void> first = insert(one, "INSERT INTO seat VALUES (777, 'X', 1)");
            CompletableFuture<Void> second = insert(two, "INSERT INTO seat VALUES (777, 'X', 2)");
            assertThatThrownBy(() -> CompletableFuture.allOf(first, second).get(30, TimeUnit.SECONDS))
                    .satisfies(e -> assertThat(((SQLException) e.getCause()).getErrorCode())
                            .isEqualTo(1213));
            assertThat(first.isCompletedExceptionally() && second.isCompletedExceptionally())
                    .isFalse();
            one.rollback();
            two.rollback();
        }
    }

    /** A read that locks nothing: both see 200, and the later write takes the earlier one back. */
    @Test
    void withoutALockBothOfTheCoupleGetMoney() throws SQLException {
        for (String url : new String[] {servers.url("mariadb"), servers.url("postgresql")}) {
            try (Connection one = begin(url);
                    Connection two = begin(url)) {
                execute(one, "CREATE TABLE purse (balance INT NOT NULL)");
                execute(one, "INSERT INTO purse VALUES (200)");
                one.commit();
                int seenByOne = SqlSession.only(one, "SELECT balance FROM purse", row -> row.getInt(1));
                int seenByTwo = SqlSession.only(two, "SELECT balance FROM purse", row -> row.getInt(1));
                execute(one, "UPDATE purse SET balance = " + (seenByOne - 100));
                one.commit();
                execute(two, "UPDATE purse SET balance = " + (seenByTwo - 150));
                two.commit();
                int left = SqlSession.only(one, "SELECT balance FROM purse", row -> row.getInt(1));
                one.rollback();
                assertThat(left).isEqualTo(50); // 250 of 200 were paid out
            }
        }
    }

    private static CompletableFuture<Void> insert(Connection connection, String statement) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        execute(connection, statement);
                    } catch (SQLException e) {
                        throw new CompletionException(e);
                    }
                },
                task -> new Thread(task).start());
    }

    private static int locks(Connection connection, String condition, String how) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery("SELECT id FROM seat WHERE " + condition + " FOR UPDATE " + how)) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }

    private static void execute(Connection connection, String statement) throws SQLException {
        try (Statement each = connection.createStatement()) {
            each.execute(statement);
        }
    }

    private static Connection begin(String url) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        return connection;
    }
}
