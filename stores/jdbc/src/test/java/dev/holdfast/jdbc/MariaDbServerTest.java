package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.ChunkMatcher;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.ReplyDrop;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** MariaDB whose own transactions are REPEATABLE READ, as they are by default, and which notes every deadlock. */
class MariaDbServerTest extends RecordTableCases {
    /** Its connection was just ending when it was listed. */
    private static final int UNKNOWN_THREAD = 1094;

    @Started({
        "--max-connections=200",
        "--innodb-print-all-deadlocks=ON",
        "--default-time-zone=-05:00",
        "--log-bin=binlog",
        "--server-id=1"
    })
    private static MariaDbServer server;

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    protected String numbers(int most) {
        return "(SELECT seq AS n FROM seq_1_to_" + most + ") AS numbers";
    }

    @Override
    protected String recordIndexes() {
        return "SELECT count(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = database()"
                + " AND table_name = 'holdfast_lock_record' AND index_name <> 'PRIMARY'";
    }

    @Override
    protected String dialect() {
        return "mariadb";
    }

    @Override
    protected void endConnections() {
        String all = ask("SELECT group_concat('KILL ', id SEPARATOR ';') FROM information_schema.processlist"
                + " WHERE id <> connection_id() AND user = 'root'");
        for (String kill : all.split(";")) {
            try {
                sql(kill);
            } catch (AssertionError e) {
                if (!(e.getCause() instanceof SQLException gone) || gone.getErrorCode() != UNKNOWN_THREAD) {
                    throw e;
                }
            }
        }
    }

    @Override
    protected List<String> errorsInLog() {
        return server.process()
                .log()
                .lines()
                .filter(line -> line.matches("(?i).*(deadlock|duplicate entry).*"))
                .toList();
    }

    @Test
    @Tag("thorough")
    void aHeldLockThatIsTriedTenThousandTimesChangesNoRow() {
        try (Store holder = store();
                Store other = store()) {
            Requests.get(Asked.of(holder, Requests.lease(Requests.claim("tried"), Duration.ofMinutes(10)))
                            .answer())
                    .orElseThrow();
            assertThat(Requests.get(Asked.of(other, Requests.claim("tried")).answer()))
                    .isEmpty();
            long before = changes();
            for (int i = 0; i < 10_000; i++) {
                assertThat(Requests.get(Asked.of(other, Requests.claim("tried")).answer()))
                        .isEmpty();
            }
            assertThat(changes() - before).as("rows changed").isZero();
        }
    }

    /** Rows updated and deleted since the server began. */
    private long changes() {
        return Long.parseLong(ask("SELECT CAST(sum(variable_value) AS INT) FROM information_schema.global_status"
                + " WHERE variable_name IN ('HANDLER_UPDATE', 'HANDLER_DELETE')"));
    }

    /** It carries the text of the statements, which once wrote out the clock ten times. */
    @Test
    void aLockAndItsReleaseWriteLessThanTwoThousandBytesToTheBinaryLog() {
        int times = 20;
        try (Store store = store()) {
            lockAndRelease(store); // the row is there from now on
            long before = binaryLog();
            for (int i = 0; i < times; i++) {
                lockAndRelease(store);
            }
            assertThat((binaryLog() - before) / times).isBetween(500L, 2_000L);
        }
    }

    private static void lockAndRelease(Store store) {
        Grant grant = Requests.get(
                        Asked.of(store, Requests.claim("in the binary log")).answer())
                .orElseThrow();
        assertThat(Requests.get(store.release(grant))).isTrue();
    }

    private long binaryLog() {
        return Long.parseLong(ask("SELECT variable_value FROM information_schema.global_status"
                + " WHERE variable_name = 'BINLOG_BYTES_WRITTEN'"));
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
    void aClaimIsRepeatedWhoseConnectionTheDriverReplacesByItself() {
        try (TcpProxy proxy = TcpProxy.to(server.port());
                LockClient client = LockClient.connect(byTurns(proxy))) {
            ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("UPDATE"));

            try (Hold hold = client.lock("reset").tryAcquire().orElseThrow()) {
                assertThat(hold.isValid()).isTrue();
            }
            lost.awaitBite(Duration.ofSeconds(20));
        }
    }

    @Test
    void aSessionThatTheDriverOpensByItselfIsNotUsed() {
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            Connections connections = () -> DriverManager.getConnection(byTurns(proxy));
            ConnectionWorker worker = new ConnectionWorker(
                    new TableOpener(
                            new MariaDbDialect(), JdbcOptions.defaults(), connections, "a store", new KitTime()),
                    0);
            try {
                Request.Work<Long> limit = table -> table.session()
                        .all("SELECT @@SESSION.innodb_lock_wait_timeout", row -> row.getLong(1), List.of())
                        .get(0);
                long prepared = Requests.get(worker.ask("look at", "a", limit));
                ReplyDrop lost = proxy.dropNextReply(ChunkMatcher.containing("SELECT @@SESSION"));

                assertThat(Requests.get(worker.ask("look at", "a", limit))).isEqualTo(prepared);
                lost.awaitBite(Duration.ofSeconds(20));
            } finally {
                worker.close(table -> true);
                worker.awaitEnd();
            }
        }
    }

    /** The driver connects again when a connection breaks, and goes on with it. */
    private static String byTurns(TcpProxy proxy) {
        String address = "127.0.0.1:" + proxy.port();
        return "jdbc:mariadb:sequential://" + address + "," + address + "/test?user=root";
    }

    @Test
    @Tag("thorough")
    void theOtherVendorsDriverDoesAsWell() throws Exception {
        String mysql = "jdbc:mysql://127.0.0.1:" + server.port() + "/test?user=root";
        assertThat(DriverManager.getDriver(mysql).getClass().getName()).startsWith("com.mysql.");
        try (LockClient one = LockClient.connect(url());
                LockClient two = LockClient.connect(mysql)) {
            Hold first = two.lock("both").acquire();
            assertThat(one.lock("both").tryAcquire()).isEmpty();
            first.close();
            try (Hold second = one.lock("both").acquire()) {
                assertThat(second.token()).isGreaterThan(first.token());
            }
        }
    }

    @Test
    void whatIsWrongIsTold() {
        // Not in 'test', where a fresh server lets everybody do everything.
        sql(
                "CREATE DATABASE guarded",
                "CREATE OR REPLACE USER weak@'127.0.0.1'",
                "GRANT SELECT ON guarded.* TO weak@'127.0.0.1'");
        String guarded = url().replace("/test?", "/guarded?");
        String weak = guarded.replace("user=root", "user=weak");
        assertRefused(weak, "holdfast schema mariadb");
        LockClient.connect(guarded).close();
        assertRefused(weak, "missing privilege on table holdfast_lock, or no such table");
        assertRefused(url().replace("/test?", "/nowhere?"), "no such database");
        assertRefused(url().replace("user=root", "user=nobody&password=s3cret"), "user or the password");
        sql("GRANT SELECT, INSERT, UPDATE, DELETE ON guarded.* TO weak@'127.0.0.1'", "SET GLOBAL read_only = ON");
        try {
            assertThatThrownBy(() -> {
                        try (LockClient client = LockClient.connect(weak)) {
                            client.lock("x").tryAcquire();
                        }
                    })
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("read-only");
        } finally {
            sql("SET GLOBAL read_only = OFF");
        }
    }

    @Test
    @Tag("thorough")
    void whatATriggerSignalsIsARefusal() throws InterruptedException {
        try (LockClient client = LockClient.connect(url())) {
            client.lock("before the trigger").acquire().close();
            sql("CREATE TRIGGER refuse BEFORE INSERT ON holdfast_lock FOR EACH ROW"
                    + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no lock today'");
            try {
                assertThatThrownBy(() -> client.lock("after the trigger").tryAcquire())
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("'after the trigger'")
                        .hasMessageContaining("no lock today");
            } finally {
                sql("DROP TRIGGER refuse");
            }
        }
    }
}
