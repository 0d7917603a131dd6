package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Pending;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Store;
import dev.holdfast.testbed.MariaDbServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** MariaDB whose own transactions are REPEATABLE READ, as they are by default, and which notes every deadlock. */
class MariaDbServerTest extends ServerCases {
    private static MariaDbServer server;

    @BeforeAll
    static void startServer() {
        server = orSkip(() -> MariaDbServer.start(
                "--max-connections=200", "--innodb-print-all-deadlocks=ON", "--default-time-zone=-05:00"));
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
    protected String numbers(int most) {
        return "(SELECT seq AS n FROM seq_1_to_" + most + ") AS numbers";
    }

    @Override
    protected String dialect() {
        return "mariadb";
    }

    @Override
    protected void endConnections() {
        sql(ask("SELECT group_concat('KILL ', id SEPARATOR ';') FROM information_schema.processlist"
                        + " WHERE id <> connection_id() AND user = 'root'")
                .split(";"));
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
    void aHeldLockThatIsTriedTenThousandTimesChangesNoRow() {
        try (Store holder = store();
                Store other = store()) {
            Rig.get(holder.claim(Rig.claim("tried")).answer()).orElseThrow();
            assertThat(Rig.get(other.claim(Rig.claim("tried")).answer())).isEmpty();
            long before = changes();
            for (int i = 0; i < 10_000; i++) {
                assertThat(Rig.get(other.claim(Rig.claim("tried")).answer())).isEmpty();
            }
            assertThat(changes() - before).as("rows changed").isZero();
        }
    }

    /** Rows updated and deleted since the server began. */
    private long changes() {
        return Long.parseLong(ask("SELECT CAST(sum(variable_value) AS INT) FROM information_schema.global_status"
                + " WHERE variable_name IN ('HANDLER_UPDATE', 'HANDLER_DELETE')"));
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
    void aRenewalBelievesNoReplicaThatLagsBehind() throws SQLException {
        try (Store direct = store()) {
            List<Grant> grants = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                grants.add(
                        Rig.get(direct.claim(Rig.claim("split " + i)).answer()).orElseThrow());
            }
            lagsFromNowOn();
            for (int gone : List.of(0, 5, 8)) {
                assertThat(Rig.get(direct.release(grants.get(gone)))).isTrue();
            }

            try (Store split = split()) {
                Map<ClaimId, Renewal> renewals = Rig.get(split.renew(grants));

                for (int i = 0; i < grants.size(); i++) {
                    assertThat(renewals.get(grants.get(i).id()).verdict())
                            .as("grant %s", i)
                            .isEqualTo(List.of(0, 5, 8).contains(i) ? Renewal.Verdict.LOST : Renewal.Verdict.HELD);
                }
            }
            grants.forEach(each -> Rig.get(direct.release(each)));
        }
    }

    @Test
    void whatIsChangedIsReadFromNoReplicaThatLagsBehind() throws SQLException {
        try (Store direct = store()) {
            Rig.get(direct.release(
                    Rig.get(direct.claim(Rig.claim("waited for")).answer()).orElseThrow()));
            lagsFromNowOn();
            Grant reader = Rig.get(direct.claim(Rig.mode(Rig.claim("read"), Mode.SHARED))
                            .answer())
                    .orElseThrow();
            Grant writer = Rig.get(direct.claim(Rig.claim("written")).answer()).orElseThrow();
            Grant holder =
                    Rig.get(direct.claim(Rig.claim("waited for")).answer()).orElseThrow();
            Pending next = direct.claim(Rig.waiting("waited for"));
            await().atMost(SOON)
                    .until(() -> Rig.get(direct.status("waited for")).waiting() == 1);

            try (Store split = split()) {
                assertThat(Rig.get(split.renew(List.of(reader)))
                                .get(reader.id())
                                .verdict())
                        .isEqualTo(Renewal.Verdict.HELD);
                assertThat(Rig.get(split.downgrade(writer))).isTrue();
                assertThat(Rig.get(split.release(holder))).isTrue();
            }
            assertThat(Rig.get(next.answer())).isPresent();
        }
    }

    private void lagsFromNowOn() {
        sql(
                "DROP DATABASE IF EXISTS lagging",
                "CREATE DATABASE lagging",
                "CREATE TABLE lagging.holdfast_lock AS SELECT * FROM holdfast_lock");
    }

    private Store split() {
        return ServerStore.open(
                new MariaDbDialect(), JdbcOptions.defaults(), this::splitting, "split", System::nanoTime, false);
    }

    /** Connections of a proxy that sends each SELECT to a replica, unless it locks. */
    private Connection splitting() throws SQLException {
        Connection primary = DriverManager.getConnection(url());
        Connection replica = DriverManager.getConnection(url().replace("/test?", "/lagging?"));
        return (Connection) Proxy.newProxyInstance(
                MariaDbServerTest.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (self, method, arguments) -> {
                    boolean reads = method.getName().equals("prepareStatement")
                            && arguments[0].toString().startsWith("SELECT ")
                            && !arguments[0].toString().endsWith("FOR UPDATE");
                    if (method.getName().equals("close")) {
                        replica.close();
                    }
                    try {
                        return method.invoke(reads ? replica : primary, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
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
        assertRefused(weak, "a right is missing");
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
}
