package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.StaleTokenException;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.Ports;
import dev.holdfast.testbed.ServerMissingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two primaries of a Galera cluster: what both change is certified by both, and nothing else is. */
@Timeout(180)
@Tag("thorough")
class GaleraTest {
    private static final Path LIBRARY = Path.of("/usr/lib/galera/libgalera_smm.so");
    private static final JdbcFence FENCE = JdbcFence.inTable("holdfast_fence");
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    private static MariaDbServer first;
    private static MariaDbServer second;

    @BeforeAll
    static void startServers() throws Exception {
        orSkip(() -> {
            if (!Files.exists(LIBRARY)) {
                throw new ServerMissingException("Galera", LIBRARY.toString(), "apt-get install galera-4");
            }
            return LIBRARY;
        });
        int port = Ports.free();
        Files.createDirectory(folder.resolve("first"));
        first = orSkip(() -> MariaDbServer.start(options(folder.resolve("first"), port, "gcomm://")));
        // Both are new and equal: a server that has the position of the first needs no copy of its data.
        Files.writeString(
                Files.createDirectory(folder.resolve("second")).resolve("grastate.dat"),
                "version: 2.1\nuuid: " + status(first, "wsrep_cluster_state_uuid") + "\nseqno: "
                        + status(first, "wsrep_last_committed") + "\nsafe_to_bootstrap: 0\n");
        second = MariaDbServer.start(options(folder.resolve("second"), Ports.free(), "gcomm://127.0.0.1:" + port));
        await().atMost(SOON).until(() -> status(second, "wsrep_ready").equals("ON"));
        try (Connection connection = DriverManager.getConnection(first.jdbcUrl())) {
            FENCE.create(connection);
            SqlSession.execute(connection, "CREATE TABLE withdrawal (token BIGINT PRIMARY KEY) ENGINE = InnoDB");
            SqlSession.execute(connection, "CREATE TABLE other (id INT PRIMARY KEY) ENGINE = InnoDB");
        }
    }

    @AfterAll
    static void stopServers() {
        if (second != null) {
            second.close();
        }
        if (first != null) {
            first.close();
        }
    }

    /** The later holder's transaction has been ordered before the commit, and waits to be applied on the first server. */
    @Test
    void aWriterThatChecksItsTokenAgainIsRefusedByALaterHolderOfWhomItsServerHasNotHeard() throws Exception {
        try (Connection administrator = DriverManager.getConnection(first.jdbcUrl());
                Connection paused = transaction(first);
                Connection later = transaction(second)) {
            withdraw(paused, 5);
            paused.commit();
            SqlSession.execute(administrator, "FLUSH TABLES other WITH READ LOCK");
            SqlSession.execute(later, "INSERT INTO other VALUES (1)");
            withdraw(later, 7);
            later.commit();

            long sent = Long.parseLong(status(first, "wsrep_replicated"));
            FENCE.check(paused, "account", 5);
            SqlSession.execute(paused, "INSERT INTO withdrawal VALUES (6)");
            CompletableFuture<Void> committed = CompletableFuture.runAsync(() -> commit(paused));
            await().atMost(SOON).until(() -> Long.parseLong(status(first, "wsrep_replicated")) > sent);
            SqlSession.execute(administrator, "UNLOCK TABLES");

            assertThatThrownBy(() -> committed.get(60, TimeUnit.SECONDS)).hasRootCauseInstanceOf(SQLException.class);
            assertThat(withdrawals()).containsExactly(5L, 7L);
            paused.rollback();
            assertThatThrownBy(() -> FENCE.check(paused, "account", 5)).isInstanceOf(StaleTokenException.class);
        }
    }

    private static void withdraw(Connection connection, long token) throws SQLException {
        FENCE.check(connection, "account", token);
        SqlSession.execute(connection, "INSERT INTO withdrawal VALUES (" + token + ")");
    }

    private static void commit(Connection connection) {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<Long> withdrawals() throws SQLException {
        try (Connection connection = DriverManager.getConnection(first.jdbcUrl())) {
            return new SqlSession(connection)
                    .all("SELECT token FROM withdrawal ORDER BY token", row -> row.getLong(1), List.of());
        }
    }

    private static Connection transaction(MariaDbServer server) throws SQLException {
        Connection connection = DriverManager.getConnection(server.jdbcUrl());
        connection.setAutoCommit(false);
        return connection;
    }

    private static String status(MariaDbServer server, String name) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.jdbcUrl())) {
            return SqlSession.only(connection, "SHOW STATUS LIKE '" + name + "'", row -> row.getString(2));
        }
    }

    private static String[] options(Path state, int port, String cluster) {
        return new String[] {
            "--wsrep-on=ON",
            "--wsrep-provider=" + LIBRARY,
            "--wsrep-cluster-address=" + cluster,
            "--wsrep-node-address=127.0.0.1",
            "--wsrep-provider-options=base_dir=" + state + ";base_port=" + port + ";gmcast.listen_addr=tcp://127.0.0.1:"
                    + port + ";gcache.size=8M",
            "--wsrep-sst-method=skip",
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2"
        };
    }
}
