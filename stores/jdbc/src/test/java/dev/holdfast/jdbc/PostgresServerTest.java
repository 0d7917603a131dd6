package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Store;
import dev.holdfast.testbed.PostgresServer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** PostgreSQL whose own transactions are REPEATABLE READ, far from UTC. */
class PostgresServerTest extends ServerCases {
    private static PostgresServer server;

    @BeforeAll
    static void startServer() {
        server = orSkip(() -> PostgresServer.start(
                "-c",
                "default_transaction_isolation=serializable",
                "-c",
                "timezone=America/New_York",
                "-c",
                "max_connections=200"));
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    protected String dialect() {
        return "postgresql";
    }

    @Override
    protected void endConnections() {
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                + " AND backend_type = 'client backend'");
    }

    @Override
    protected List<String> errorsInLog() {
        return server.process()
                .log()
                .lines()
                .filter(line -> line.matches(".*(deadlock|duplicate key|could not serialize).*"))
                .toList();
    }

    @Test
    void aHeldLockThatIsTriedWritesNothing() throws InterruptedException {
        try (LockClient holder = LockClient.connect(url());
                LockClient other = LockClient.connect(url());
                Hold hold = holder.lock("tried").acquire()) {
            for (int i = 0; i < 20; i++) {
                assertThat(other.lock("tried").tryAcquire()).isEmpty(); // the first to read a row leaves hints in it
            }
            sql("CHECKPOINT");
            long before = wal();
            for (int i = 0; i < 2_000; i++) {
                assertThat(other.lock("tried").tryAcquire()).isEmpty();
            }
            assertThat(wal() - before)
                    .as("bytes of WAL")
                    .isLessThan(200); // the server's own note of running transactions
            assertThat(hold.isValid()).isTrue();
        }
    }

    private long wal() {
        return Long.parseLong(ask("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"));
    }

    @Test
    void aServerThatWasKilledAndStartedAgainStillKnowsTheHolder() throws Exception {
        try (LockClient one = LockClient.connect(url());
                LockClient two = LockClient.connect(url())) {
            Hold hold = one.lock("restart").acquire();
            CompletableFuture<Hold> waiting = two.lock("restart").acquireAsync();
            server.process().restart();
            assertThat(two.lock("restart").status().grant()).isPresent();
            assertThat(waiting).isNotDone();
            hold.close();
            Hold next = waiting.get(20, TimeUnit.SECONDS);
            assertThat(next.token()).isGreaterThan(hold.token());
            next.close();
        }
    }

    @Test
    void whatIsWrongIsTold() {
        sql("DROP ROLE IF EXISTS weak", "CREATE ROLE weak LOGIN", "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        dropTable();
        String weak = url().replace("user=postgres", "user=weak");
        assertRefused(weak, "holdfast schema postgresql");
        LockClient.connect(url()).close();
        assertRefused(weak, "a right is missing");
        assertRefused(url().replace("/postgres?", "/nowhere?"), "no such database");
        assertRefused(url().replace("user=postgres", "user=nobody&password=s3cret"), "user or the password");
        assertRefused(with(url(), "options=-c%20default_transaction_read_only=on"), "read-only");
        assertThatThrownBy(() -> LockClient.connect("jdbc:postgresql://127.0.0.1:1/x?user=me&password=s3cret"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("cannot be reached")
                .hasMessageNotContaining("s3cret");
    }

    private static void assertRefused(String url, String words) {
        assertThatThrownBy(() -> {
                    try (LockClient client = LockClient.connect(url)) {
                        client.lock("x").tryAcquire();
                    }
                })
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(words)
                .hasMessageNotContaining("s3cret")
                .hasMessageNotContaining("\n");
    }

    @Test
    void aLongTransactionOfAnApplicationStandsInNobodysWay() throws Exception {
        try (LockClient client = LockClient.connect(url());
                java.sql.Connection application = java.sql.DriverManager.getConnection(url())) {
            application.setAutoCommit(false);
            application.createStatement().executeQuery("SELECT * FROM holdfast_lock");
            client.lock("beside").acquire().close();
            assertThat(client.lock("beside").tryAcquire()).isPresent();
            application.rollback();
        }
    }

    @Test
    void anOfferThatComesWhileTheStoreIsAskedIsTakenAtOnce() throws Exception {
        Meddling connections = new Meddling(url());
        try (Store holder = store();
                Store waiter = connections.store()) {
            Grant grant =
                    Rig.get(holder.claim(Rig.claim("told meanwhile")).answer()).orElseThrow();
            Claim claim = Rig.waiting("told meanwhile");
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch offered = new CountDownLatch(1);
            Pending waiting = waiter.claim(claim);
            await().atMost(SOON)
                    .until(() -> Rig.get(holder.status("told meanwhile")).waiting() == 1);
            connections.meddle(sql -> {
                if (sql.startsWith("SELECT " + RowSql.COLUMNS)) {
                    asked.countDown();
                    awaitLatch(offered);
                }
            });
            await().atMost(SOON).until(() -> asked.getCount() == 0);
            assertThat(Rig.get(holder.release(grant))).isTrue();
            connections.meddle(sql -> {});
            offered.countDown();

            assertThat(waiting.answer().toCompletableFuture().get(1_500, TimeUnit.MILLISECONDS))
                    .isPresent();
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
