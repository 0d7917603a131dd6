package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.jdbc.OptimisticUpdate.Outcome;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two withdraw from one account at the same time, 100 and 150 from 200, by each of the ways that a SQL server has: one of
 * them gets money, the other hears that there is too little, and the account knows which.
 */
@Tag("thorough")
@Timeout(180)
class WithdrawingCoupleTest {
    private static final int ROUNDS = 25;

    @RegisterExtension
    static final BothServers servers = new BothServers();

    @BeforeAll
    static void makeTables() throws SQLException {
        for (String database : new String[] {"mariadb", "postgresql"}) {
            try (Connection connection = connect(database)) {
                execute(
                        connection,
                        "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL, version BIGINT NOT NULL)");
                execute(connection, "INSERT INTO account VALUES (7, 0, 0)");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql, LEASE", "postgresql, SESSION", "postgresql, TRANSACTION", "postgresql, ROW",
                "postgresql, OPTIMISTIC",
        "mariadb, LEASE", "mariadb, SESSION", "mariadb, TRANSACTION", "mariadb, ROW", "mariadb, OPTIMISTIC"
    })
    void oneOfTheCoupleGetsMoneyAndTheOtherIsToldTheTruth(String database, Way way) throws Exception {
        try (Purse she = new Purse(database, way);
                Purse he = new Purse(database, way)) {
            for (int round = 0; round < ROUNDS; round++) {
                try (Connection connection = connect(database)) {
                    execute(connection, "UPDATE account SET balance = 200, version = version + 1 WHERE id = 7");
                }
                CyclicBarrier together = new CyclicBarrier(2);
                CompletableFuture<Boolean> hers = withdraw(she, 100, together);
                CompletableFuture<Boolean> his = withdraw(he, 150, together);
                boolean sheHas = hers.get(60, TimeUnit.SECONDS);
                boolean heHas = his.get(60, TimeUnit.SECONDS);
                try (Connection connection = connect(database)) {
                    assertThat(sheHas).isNotEqualTo(heHas);
                    assertThat(balance(connection, "")).isEqualTo(sheHas ? 100 : 50);
                }
            }
        }
    }

    private static CompletableFuture<Boolean> withdraw(Purse purse, long amount, CyclicBarrier together) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        together.await(30, TimeUnit.SECONDS);
                        return purse.withdraw(amount);
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                task -> new Thread(task).start());
    }

    private enum Way {
        /** A lock of Holdfast, with leases. */
        LEASE,
        /** A lock of Holdfast that ends with its session. */
        SESSION,
        /** A lock by name in the transaction. */
        TRANSACTION,
        /** The row of the data itself. */
        ROW,
        /** No lock. */
        OPTIMISTIC
    }

    /** One of the two, with connections of their own. */
    private static final class Purse implements AutoCloseable {
        private final String database;
        private final Way way;
        private final Connection connection;
        private final LockClient client;
        private final JdbcLocks locks;

        Purse(String database, Way way) throws SQLException {
            this.database = database;
            this.way = way;
            this.connection = connect(database);
            this.locks = JdbcLocks.on(PlainDataSource.of(url(database)));
            this.client = LockClient.connect(
                    switch (way) {
                        case LEASE -> url(database);
                        case SESSION -> url(database) + "&mode=session";
                        default -> "mem:";
                    });
        }

        boolean withdraw(long amount) throws Exception {
            return switch (way) {
                case LEASE, SESSION -> {
                    try (Hold hold = client.lock("account:7").acquire()) {
                        assertThat(hold.isValid()).isTrue();
                        yield pay(amount, "");
                    }
                }
                case TRANSACTION -> {
                    connection.setAutoCommit(false);
                    locks.inTransaction(connection).lock("account:7");
                    boolean paid = pay(amount, "");
                    connection.commit();
                    yield paid;
                }
                case ROW -> {
                    connection.setAutoCommit(false);
                    boolean paid = pay(amount, " FOR UPDATE");
                    connection.commit();
                    yield paid;
                }
                case OPTIMISTIC ->
                    OptimisticUpdate.byVersion("account", "id", "version")
                                    .attempts(100)
                                    .longestPause(Duration.ofMillis(5))
                                    .update(PlainDataSource.of(url(database)), 7, row -> {
                                        long balance = row.getLong("balance");
                                        return balance < amount ? Map.of() : Map.of("balance", balance - amount);
                                    })
                                    .outcome()
                            == Outcome.UPDATED;
            };
        }

        /** Reads, decides and writes what was decided, as an application does. */
        private boolean pay(long amount, String how) throws SQLException {
            long balance = balance(connection, how);
            if (balance < amount) {
                return false;
            }
            execute(connection, "UPDATE account SET balance = " + (balance - amount) + " WHERE id = 7");
            return true;
        }

        @Override
        public void close() throws SQLException {
            client.close();
            connection.close();
        }
    }

    private static long balance(Connection connection, String how) throws SQLException {
        return SqlSession.only(connection, "SELECT balance FROM account WHERE id = 7" + how, row -> row.getLong(1));
    }

    private static void execute(Connection connection, String statement) throws SQLException {
        try (Statement each = connection.createStatement()) {
            each.execute(statement);
        }
    }

    private static Connection connect(String database) throws SQLException {
        return DriverManager.getConnection(url(database));
    }

    private static String url(String database) {
        return servers.url(database);
    }
}
