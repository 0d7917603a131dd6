package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.StaleTokenException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.StoreFence;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fence in the caller's own transaction, on every database. */
@Timeout(120)
class JdbcFenceTest {
    /** Of today, so large that a double cannot tell it from its neighbours. */
    private static final long TODAY = 1_795_361_171_102_454L * 1024;

    private static final JdbcFence FENCE = JdbcFence.inTable("holdfast_fence");

    @TempDir
    private static Path folder;

    @Started({"--log-bin", "--binlog-format=ROW"})
    private static MariaDbServer mariaDb;

    @Started
    private static PostgresServer postgres;

    @BeforeAll
    static void createTables() throws SQLException {
        for (String database : new String[] {"postgresql", "mariadb", "h2", "sqlite"}) {
            try (Connection connection = connect(database)) {
                connection.setAutoCommit(true);
                FENCE.create(connection);
                FENCE.create(connection); // it may be there
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void aTokenIsAdmittedUntilAHigherOneWas(String database) throws SQLException {
        try (Connection connection = connect(database)) {
            FENCE.check(connection, "order", TODAY + 1);
            FENCE.check(connection, "order", TODAY + 1);
            connection.commit();
            FENCE.check(connection, "order", TODAY + 3);
            connection.commit();
            assertThatThrownBy(() -> FENCE.check(connection, "order", TODAY + 2))
                    .isInstanceOfSatisfying(StaleTokenException.class, stale -> {
                        assertThat(stale.token()).isEqualTo(TODAY + 2);
                        assertThat(stale.admitted()).isEqualTo(TODAY + 3);
                    });
            for (String another : List.of("Order", "order ", "o\u0308rder", "örder", "oerder")) {
                FENCE.check(connection, another, TODAY);
            }
            connection.commit();
        }
    }

    /** Elsewhere the column takes nothing else. */
    @ParameterizedTest
    @ValueSource(strings = {"'nonsense'", "''", "1.5", "1e19", "x'35'"})
    void onSqliteAValueOfAnotherProgramIsNoFence(String foreign) throws SQLException {
        try (Connection connection = connect("sqlite");
                Statement statement = connection.createStatement()) {
            FENCE.check(connection, "foreign", TODAY);
            statement.execute("UPDATE holdfast_fence SET token = " + foreign + " WHERE resource = 'foreign'");

            assertThatThrownBy(() -> FENCE.check(connection, "foreign", Long.MAX_VALUE))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageEndingWith("its row is 'foreign' of holdfast_fence");
            connection.rollback();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void theFenceOfAUrlIsTheSameAndMakesItsTable(String database) throws SQLException {
        try (Connection connection = connect(database);
                StoreFence fence = new JdbcStoreProvider().openFence(url(database), Optional.empty())) {
            fence.check("of-url", TODAY + 1);
            fence.check("of-url", TODAY + 1);
            assertThatThrownBy(() -> FENCE.check(connection, "of-url", TODAY)).isInstanceOf(StaleTokenException.class);
            connection.rollback();
            try (Statement drop = connection.createStatement()) {
                drop.execute("DROP TABLE holdfast_fence");
            }
            connection.commit();
            fence.check("of-url", TODAY); // as it should never be: the table is made again
            assertThatThrownBy(() -> fence.check("of-url", TODAY - 1)).isInstanceOf(StaleTokenException.class);
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void theFenceOfAUrlSaysThatATransactionLocksTheRow(String database) throws SQLException {
        try (Connection application = connect(database);
                StoreFence fence = new JdbcStoreProvider().openFence(url(database), Optional.empty())) {
            FENCE.check(application, "in-use", TODAY);
            assertThatThrownBy(() -> fence.check("in-use", TODAY))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContainingAll("'in-use'", "time limit", "which session locks");
            application.commit();
            fence.check("in-use", TODAY);
        }
    }

    @Test
    void aFenceWithoutItsTableNamesTheScriptThatMakesIt() {
        String none = url("postgresql") + (url("postgresql").contains("?") ? "&" : "?")
                + "holdfast.createTable=false&holdfast.schema=nowhere";
        try (StoreFence fence = new JdbcStoreProvider().openFence(none, Optional.empty())) {
            assertThatThrownBy(() -> fence.check("order", TODAY))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("'holdfast schema --fence postgresql'");
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void aTransactionThatIsRolledBackAdmittedNothing(String database) throws SQLException {
        try (Connection connection = connect(database)) {
            FENCE.check(connection, "rolled-back", TODAY + 5);
            connection.rollback();
            FENCE.check(connection, "rolled-back", TODAY + 4);
            connection.commit();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void aLaterHolderWaitsForTheTransactionOfTheEarlierOne(String database) throws Exception {
        try (Connection earlier = connect(database);
                Connection later = connect(database)) {
            FENCE.check(earlier, "waits", TODAY + 1);
            earlier.commit();
            FENCE.check(earlier, "waits", TODAY + 1);
            CompletableFuture<Void> admitted = CompletableFuture.runAsync(() -> check(later, "waits", TODAY + 2));
            assertThatThrownBy(() -> admitted.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(Exception.class);
            earlier.commit();
            admitted.get(20, TimeUnit.SECONDS);
            later.commit();
            assertThatThrownBy(() -> FENCE.check(earlier, "waits", TODAY + 1)).isInstanceOf(StaleTokenException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb", "h2"})
    void ofTwoThatMeetANewResourceTheLowerOneIsRefusedWhenTheHigherOneHasCommitted(String database) throws Exception {
        for (int i = 0; i < 20; i++) {
            String resource = "new-" + i;
            try (Connection higher = connect(database);
                    Connection lower = connect(database)) {
                FENCE.check(higher, resource, TODAY + 2);
                CompletableFuture<Void> admitted = CompletableFuture.runAsync(() -> check(lower, resource, TODAY + 1));
                higher.commit();
                assertThatThrownBy(() -> admitted.get(20, TimeUnit.SECONDS))
                        .hasRootCauseInstanceOf(StaleTokenException.class);
            }
        }
    }

    /** Several primaries certify what is in the log of changes, and nothing else: {@link GaleraTest} runs two. */
    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "mariadb&useAffectedRows=true"})
    void onServersThatWriteNoUnchangedRowACheckOfTheSameTokenWritesItsRow(String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database.replace("mariadb", mariaDb.jdbcUrl()))) {
            connection.setAutoCommit(false);
            FENCE.check(connection, "again", TODAY);
            connection.commit();
            for (int checks = 1; checks <= 3; checks++) {
                long before = logged(connection);
                FENCE.check(connection, "again", TODAY);
                connection.commit();
                assertThat(logged(connection)).isGreaterThan(before);
            }
        }
    }

    /** The end of the log of changed rows, in bytes. */
    private static long logged(Connection connection) throws SQLException {
        return SqlSession.only(connection, "SHOW MASTER STATUS", row -> row.getLong("Position"));
    }

    @Test
    void aTableOfAnEarlierVersionIsRefusedWithTheStatementThatMendsIt() throws SQLException {
        JdbcFence early = JdbcFence.inTable("early_fence");
        try (Connection connection = connect("mariadb");
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE early_fence (resource VARBINARY(1020) NOT NULL PRIMARY KEY,"
                    + " token BIGINT NOT NULL) ENGINE = InnoDB");
            statement.execute("INSERT INTO early_fence VALUES ('order', 7)");
            StoreRefusedException refused =
                    catchThrowableOfType(StoreRefusedException.class, () -> early.check(connection, "order", 8));
            assertThat(refused).hasMessageContainingAll("'order'", "early_fence", "run ALTER TABLE");
            statement.execute(refused.getMessage().replaceFirst(".*; run ", ""));
            assertThatThrownBy(() -> early.check(connection, "order", 6)).isInstanceOf(StaleTokenException.class);
            early.check(connection, "order", 7);
            connection.commit();
        }
    }

    @Test
    void aDriverThatCountsOnlyRowsWithNewValuesAdmitsTheSameTokenAgain() throws SQLException {
        try (Connection connection = DriverManager.getConnection(
                mariaDb.jdbcUrl() + (mariaDb.jdbcUrl().contains("?") ? "&" : "?") + "useAffectedRows=true")) {
            connection.setAutoCommit(false);
            FENCE.check(connection, "twice", TODAY);
            connection.commit();
            FENCE.check(connection, "twice", TODAY);
            connection.commit();
        }
    }

    @Test
    void withoutATransactionOrWithAnImpossibleTokenItIsRefused() throws SQLException {
        try (Connection connection = connect("h2")) {
            assertThatThrownBy(() -> FENCE.check(connection, "order", -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> FENCE.check(connection, "x".repeat(256), 1))
                    .isInstanceOf(IllegalArgumentException.class);
            connection.setAutoCommit(true);
            assertThatThrownBy(() -> FENCE.check(connection, "order", 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'order'");
        }
    }

    @Test
    void aTableThatIsNoNameIsRefused() {
        assertThatThrownBy(() -> JdbcFence.inTable("fence; DROP TABLE orders"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> JdbcFence.inTable("")).isInstanceOf(IllegalArgumentException.class);
        assertThat(JdbcFence.inTable("locks.fence").script("PostgreSQL"))
                .startsWith("CREATE TABLE IF NOT EXISTS locks.");
        assertThatThrownBy(() -> FENCE.script("oracle"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("known: PostgreSQL");
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb", "h2", "sqlite"})
    void theScriptIsWhatTheDatabaseTakes(String database) throws SQLException {
        JdbcFence other = JdbcFence.inTable("other_fence");
        try (Connection connection = connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(other.script(database));
            connection.commit();
            other.check(connection, "order", 1);
            connection.commit();
        }
    }

    private static void check(Connection connection, String resource, long token) {
        try {
            FENCE.check(connection, resource, token);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Connection connect(String database) throws SQLException {
        Connection connection = DriverManager.getConnection(url(database));
        connection.setAutoCommit(false);
        return connection;
    }

    private static String url(String database) {
        return switch (database) {
            case "postgresql" -> postgres.jdbcUrl();
            case "mariadb" -> mariaDb.jdbcUrl();
            case "h2" -> "jdbc:h2:" + folder.resolve("fence") + ";AUTO_SERVER=FALSE;DB_CLOSE_DELAY=-1";
            default -> "jdbc:sqlite:" + folder.resolve("fence.db");
        };
    }
}
