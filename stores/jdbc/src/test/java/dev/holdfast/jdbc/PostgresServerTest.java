package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.KitTime;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.Started;
import dev.holdfast.testbed.TcpProxy;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PostgreSQL whose own transactions are REPEATABLE READ, far from UTC. */
class PostgresServerTest extends RecordTableCases {
    @Started({
        "-c", "default_transaction_isolation=serializable",
        "-c", "timezone=America/New_York",
        "-c", "max_connections=200",
        "-c", "autovacuum=off" // it would write into the log that is counted here
    })
    private static PostgresServer server;

    @Override
    protected String url() {
        return server.jdbcUrl();
    }

    @Override
    protected String numbers(int most) {
        return "generate_series(1, " + most + ") AS numbers(n)";
    }

    @Override
    protected String recordIndexes() {
        return "SELECT count(*) FROM pg_indexes WHERE tablename = 'holdfast_lock_record' AND schemaname = current_schema()"
                + " AND indexname NOT LIKE '%pkey'";
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

    /** Nothing in a statement has the table's name, however short that is. */
    @ParameterizedTest
    @ValueSource(strings = {"i", "s", "u"})
    void eachNameOfATableMayBeGiven(String name) throws InterruptedException {
        try (LockClient client = LockClient.connect(with(url(), "holdfast.table=" + name));
                Hold hold = client.lock("order:42").acquire()) {
            assertThat(client.lock("order:42").tryAcquire()).isEmpty();
            assertThat(hold.isValid()).isTrue();
        }
    }

    @Test
    @Tag("thorough")
    void aHeldLockThatIsTriedTenThousandTimesWritesNothing() {
        try (Store holder = store();
                Store other = store()) {
            Requests.get(Asked.of(holder, Requests.lease(Requests.claim("tried"), Duration.ofMinutes(10)))
                            .answer())
                    .orElseThrow();
            for (int i = 0; i < 20; i++) {
                assertTried(other); // the first to read a row leaves hints in it
            }
            sql("CREATE EXTENSION IF NOT EXISTS pg_walinspect", "CHECKPOINT");
            String before = ask("SELECT pg_current_wal_insert_lsn()");
            for (int i = 0; i < 10_000; i++) {
                assertTried(other);
            }
            String after = ask("SELECT pg_current_wal_insert_lsn()");

            assertThat(written(before, after)).as("in the log").isEmpty();
        }
    }

    private static void assertTried(Store store) {
        assertThat(Requests.get(Asked.of(store, Requests.claim("tried")).answer()))
                .isEmpty();
    }

    /**
     * What is in the log, but for what the server notes there by itself: checkpoints, which transactions run, and that a
     * reader has removed from a page what older writers left there, in this table or in the catalogs.
     */
    private String written(String from, String to) {
        if (from.equals(to)) {
            return "";
        }
        sql("CREATE TABLE flushed ()", "DROP TABLE flushed"); // only what was forced to disk can be inspected
        return ask("SELECT coalesce(string_agg(resource_manager || ' ' || record_type, '; '), '')"
                + " FROM pg_get_wal_records_info('" + from + "', '" + to + "')"
                + " WHERE resource_manager NOT IN ('XLOG', 'Standby') AND record_type NOT LIKE 'PRUNE%'");
    }

    @Test
    void aWaiterThatCannotHearKeepsItsPlace() throws Exception {
        Connections noEar = () -> {
            if (Thread.currentThread().getName().startsWith("holdfast-listen-")) {
                throw new SQLException("no connection is left", "53300");
            }
            return DriverManager.getConnection(url());
        };
        try (Store holder = store();
                Store deaf = ServerStore.open(
                        new PostgresDialect(), JdbcOptions.defaults(), noEar, "deaf", new KitTime(), false);
                Store hearing = store()) {
            Grant grant = Requests.get(Asked.of(holder, Requests.claim("deaf")).answer())
                    .orElseThrow();
            Asked first = Asked.of(deaf, Requests.waiting("deaf"));
            await().atMost(SOON).until(() -> Requests.get(holder.status("deaf")).waiting() == 1);
            Asked second = Asked.of(hearing, Requests.waiting("deaf"));
            await().atMost(SOON).until(() -> Requests.get(holder.status("deaf")).waiting() == 2);

            Requests.get(holder.release(grant));

            Grant next = Requests.get(first.answer()).orElseThrow();
            assertThat(second.answer()).isNotDone();
            Requests.get(deaf.release(next));
            assertThat(Requests.get(second.answer())).isPresent();
        }
    }

    @Test
    @Tag("thorough")
    void anEarFindsOutThatItsServerFellSilentOnAConnectionThatWasLentToo() throws Exception {
        CountDownLatch hears = new CountDownLatch(1);
        CountDownLatch deaf = new CountDownLatch(1);
        OfferListener.Listener listener = listener(hears::countDown, deaf::countDown, true);
        try (TcpProxy proxy = TcpProxy.to(server.port())) {
            String lent = url().replace(":" + server.port() + "/", ":" + proxy.port() + "/");
            try (OfferListener offerListener =
                    new PostgresOfferListener(listener, "holdfast_silent", () -> DriverManager.getConnection(lent))) {
                offerListener.open();
                awaitLatch(hears);

                proxy.toClient().swallow();

                awaitLatch(deaf);
                assertThat(offerListener.isOpen()).isFalse();
            }
        }
    }

    @Test
    void anEarWhoseDriverThrewAnErrorSaysSoAndHearsWhenItIsOpenedAgain() throws Exception {
        CountDownLatch hears = new CountDownLatch(1);
        CountDownLatch deaf = new CountDownLatch(1);
        AtomicBoolean broken = new AtomicBoolean(true);
        Connections connections = () -> {
            if (broken.getAndSet(false)) {
                throw new NoClassDefFoundError("a class of the driver");
            }
            return DriverManager.getConnection(url());
        };
        try (OfferListener offerListener = new PostgresOfferListener(
                listener(hears::countDown, deaf::countDown, true), "holdfast_broken", connections)) {
            offerListener.open();
            awaitLatch(deaf);

            offerListener.open();

            awaitLatch(hears);
        }
    }

    @Test
    @Tag("thorough")
    void anEarThatFailedToListenLeavesNoConnectionForItsPoolToLendAgain() throws Exception {
        CountDownLatch deaf = new CountDownLatch(1);
        OfferListener.Listener listener = listener(() -> {}, deaf::countDown, false);
        try (Connection lent = DriverManager.getConnection(url())) {
            lent.setAutoCommit(false);
            Connection pooled = (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (self, method, arguments) ->
                            method.getName().equals("close") ? null : method.invoke(lent, arguments));
            try (OfferListener offerListener = new PostgresOfferListener(listener, "no channel", () -> pooled)) {
                offerListener.open();
                awaitLatch(deaf);
                assertThat(offerListener.isOpen()).isFalse();
            }

            assertThat(lent.isClosed()).isTrue();
        }
    }

    /** The driver's thread waits for the server to take note of a cancelled statement. */
    @Test
    @Tag("thorough")
    void aServerThatStandsStillIsGivenUpWithinNineSeconds() {
        try (Store store = store()) {
            Requests.get(Asked.of(store, Requests.claim("before")).answer());
            server.process().stop();
            try {
                long asked = System.nanoTime();
                assertThatThrownBy(() -> Requests.get(
                                Asked.of(store, Requests.claim("meanwhile")).answer()))
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(9));
            } finally {
                server.process().cont();
            }
        }
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
        assertRefused(weak, "missing privilege on table");
        assertRefused(url().replace("/postgres?", "/nowhere?"), "no such database");
        assertRefused(url().replace("user=postgres", "user=nobody&password=s3cret"), "user or the password");
        assertThatThrownBy(() -> {
                    try (LockClient client =
                            LockClient.connect(with(url(), "options=-c%20default_transaction_read_only=on"))) {
                        client.lock("x").tryAcquire();
                    }
                })
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("read-only");
        assertThatThrownBy(() -> LockClient.connect("jdbc:postgresql://127.0.0.1:1/x?user=me&password=s3cret"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("cannot open the locks on jdbc:postgresql://")
                .hasMessageContaining("cannot be reached")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    @Tag("thorough")
    void aLongTransactionOfAnApplicationStandsInNobodysWay() throws Exception {
        try (LockClient client = LockClient.connect(url());
                Connection application = DriverManager.getConnection(url())) {
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
            Grant grant = Requests.get(
                            Asked.of(holder, Requests.claim("told meanwhile")).answer())
                    .orElseThrow();
            Claim claim = Requests.waiting("told meanwhile");
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch offered = new CountDownLatch(1);
            Asked waiting = Asked.of(waiter, claim);
            await().atMost(SOON)
                    .until(() -> Requests.get(holder.status("told meanwhile")).waiting() == 1);
            connections.meddle(sql -> {
                if (sql.contains("SELECT " + RowSql.COLUMNS)) {
                    asked.countDown();
                    awaitLatch(offered);
                }
            });
            await().atMost(SOON).until(() -> asked.getCount() == 0);
            assertThat(Requests.get(holder.release(grant))).isTrue();
            connections.meddle(sql -> {});
            offered.countDown();

            assertThat(waiting.answer().get(1_500, TimeUnit.MILLISECONDS)).isPresent();
        }
    }

    private static OfferListener.Listener listener(Runnable listening, Runnable unavailable, boolean hasWaiters) {
        return new OfferListener.Listener() {
            @Override
            public void offered(String claimId) {}

            @Override
            public void listening() {
                listening.run();
            }

            @Override
            public void unavailable(Throwable why, boolean received) {
                unavailable.run();
            }

            @Override
            public boolean hasWaiters() {
                return hasWaiters;
            }
        };
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theTableOfRecordsIsMadeWithItsIndexOrNotAtAll() {
        dropRecords();
        sql(
                "CREATE FUNCTION refuse_index() RETURNS event_trigger LANGUAGE plpgsql AS"
                        + " $$ BEGIN RAISE 'no index now'; END $$",
                "CREATE EVENT TRIGGER refuse_index ON ddl_command_start WHEN TAG IN ('CREATE INDEX')"
                        + " EXECUTE FUNCTION refuse_index()");
        try (LockClient client =
                LockClient.builder(url()).outageLimit(Duration.ofSeconds(2)).build()) {
            assertThatThrownBy(() -> client.once("job").run(turn -> {}).message())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("no index now");
        } finally {
            sql("DROP EVENT TRIGGER refuse_index", "DROP FUNCTION refuse_index()");
        }
        try (LockClient client = LockClient.connect(url())) {
            assertThat(client.once("job").run(turn -> {}).ran()).isTrue();
        }
        assertThat(ask(recordIndexes())).isEqualTo("1");
    }
}
