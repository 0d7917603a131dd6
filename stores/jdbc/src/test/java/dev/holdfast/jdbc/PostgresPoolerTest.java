package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.testbed.Binaries;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerHome;
import dev.holdfast.testbed.ServerProcess;
import dev.holdfast.testbed.Started;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A real PgBouncer in front of PostgreSQL. */
class PostgresPoolerTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @Started
    private static PostgresServer server;

    private static Path program;

    @BeforeAll
    static void findProgram() {
        program = orSkip(() -> Binaries.onThisMachine().find("pgbouncer", "apt-get install pgbouncer"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"transaction", "statement"})
    void onePoolingTransactionsIsRefusedAndNoSessionOfOthersIsChanged(String mode) throws SQLException {
        try (ServerProcess pooler = start(mode, 5);
                Connection application = DriverManager.getConnection(url(pooler))) {
            String before = timeout(application);

            assertThatThrownBy(() -> LockClient.connect(url(pooler)))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("session mode");
            assertThatThrownBy(() -> LockClient.connect(url(pooler) + "&mode=session"))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("session mode");
            PGSimpleDataSource lent = new PGSimpleDataSource();
            lent.setUrl(url(pooler));
            assertThatThrownBy(() -> LockClient.builder(JdbcStores.on(lent)).build())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("session mode");

            assertThat(timeout(application)).isEqualTo(before);
        }
    }

    @Test
    @Tag("thorough")
    void onePoolingTransactionsForManyIsRefusedToo() throws Exception {
        try (ServerProcess pooler = start("transaction", 5)) {
            List<Connection> busy = new ArrayList<>();
            try {
                for (int i = 0; i < 3; i++) {
                    Connection application = DriverManager.getConnection(url(pooler));
                    application.setAutoCommit(false);
                    timeout(application);
                    busy.add(application);
                }
                assertThatThrownBy(() -> LockClient.connect(url(pooler))).isInstanceOf(StoreRefusedException.class);
            } finally {
                for (Connection each : busy) {
                    each.close();
                }
            }
        }
    }

    /** A transaction has one session from its beginning to its end. */
    @Test
    @Tag("thorough")
    void onePoolingTransactionsDoesNoHarmToLocksOfTransactions() throws Exception {
        try (ServerProcess pooler = start("transaction", 5);
                Connection one = DriverManager.getConnection(unprepared(pooler));
                Connection two = DriverManager.getConnection(unprepared(pooler))) {
            JdbcLocks locks = JdbcLocks.on(PlainDataSource.of(unprepared(pooler)));
            one.setAutoCommit(false);
            two.setAutoCommit(false);
            for (int round = 0; round < 10; round++) {
                locks.inTransaction(one).lock("pooled");
                assertThat(locks.inTransaction(two).tryLock("pooled", Duration.ofMillis(50)))
                        .isFalse();
                one.commit();
                assertThat(locks.inTransaction(two).tryLock("pooled")).isTrue();
                two.commit();
            }
        }
    }

    /** Before version 1.21 this pooler knows no statements that a driver keeps prepared on the server. */
    private static String unprepared(ServerProcess pooler) {
        return url(pooler) + "&prepareThreshold=0";
    }

    @Test
    void onePoolingSessionsServesWaitersToo() throws Exception {
        try (ServerProcess pooler = start("session", 20);
                LockClient one = LockClient.connect(url(pooler));
                LockClient two = LockClient.connect(url(pooler))) {
            Hold hold = one.lock("pooled").acquire();
            CompletableFuture<Hold> waiting = two.lock("pooled").acquireAsync();
            await().atMost(SOON).until(() -> one.lock("pooled").status().waiting() == 1);
            hold.close();
            await().atMost(SOON).until(waiting::isDone);
            waiting.join().close();
        }
    }

    /** To find out what it pools, another connection is asked for, which waits in vain for a session. */
    @Test
    @Tag("thorough")
    void aSessionPoolerWithoutAFreeSessionIsAskedOnce() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        try (ServerProcess pooler = start("session", 1);
                Connection only = DriverManager.getConnection(url(pooler))) {
            PostgresPooler.refuse(only, () -> {
                asked.incrementAndGet();
                return DriverManager.getConnection(url(pooler) + "&loginTimeout=5");
            });

            assertThat(asked).hasValue(1);
        }
    }

    private static String timeout(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW statement_timeout")) {
            row.next();
            return row.getString(1);
        }
    }

    private static ServerProcess start(String mode, int sessions) {
        return ServerProcess.named("pgbouncer")
                .prepare(home -> configure(home, mode, sessions))
                .command(home -> command(home))
                .readyWhenLogContains("process up")
                .start();
    }

    private static void configure(ServerHome home, String mode, int sessions) {
        String settings = """
                [databases]
                postgres = host=127.0.0.1 port=%d user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = %s
                default_pool_size = %d
                ignore_startup_parameters = extra_float_digits
                """.formatted(server.port(), home.port(), mode, sessions);
        try {
            Files.writeString(home.folder().resolve("pgbouncer.ini"), settings);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** It refuses to run as root, as PostgreSQL does. */
    private static List<String> command(ServerHome home) {
        List<String> command = new ArrayList<>();
        if (Optional.of("root").equals(ProcessHandle.current().info().user())) {
            command.addAll(List.of("unshare", "-U"));
        }
        command.addAll(List.of(
                program.toString(), home.folder().resolve("pgbouncer.ini").toString()));
        return command;
    }

    private static String url(ServerProcess pooler) {
        return "jdbc:postgresql://127.0.0.1:" + pooler.port() + "/postgres?user=postgres";
    }
}
