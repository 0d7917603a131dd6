package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.HoldOptions;
import dev.holdfast.LockClient;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerClock;
import dev.holdfast.testbed.Started;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locks in an UNLOGGED table, over crashes and copies of it. Each test begins without a table. */
@Timeout(180)
class UnloggedRowsTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final HoldOptions OPTIONS = HoldOptions.defaults().lease(LEASE);

    @Started({"-c", "wal_writer_delay=10s", "-c", "autovacuum=off"})
    private static PostgresServer server;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeEach
    void dropTables() throws SQLException {
        sql("DROP TABLE IF EXISTS holdfast_lock, holdfast_lock_restart, holdfast_lock_record");
    }

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    private String url() {
        return server.jdbcUrl() + "&holdfast.unlogged=true";
    }

    private Store store() {
        return store(url());
    }

    private Store store(String url) {
        Store store = open(url);
        opened.add(store);
        return store;
    }

    private static Store open(String url) {
        return new JdbcStoreProvider().open(url, new StoreContext(new ServerCases.NoWallClock()));
    }

    private LockClient client() {
        LockClient client = LockClient.connect(url());
        opened.add(client);
        return client;
    }

    /** The claim has committed, and then the row of highest numbers stays locked for longer than the role's limit. */
    @Test
    void aHoldThatWasReleasedWithTheNextClaimIsNotReportedAsLostWhenBothAreRepeated() throws Exception {
        Store store = store(url() + "&options=-c%20lock_timeout%3D500");
        Grant grant = hold(store, claim("order:42"));
        Claim above = Requests.floor(claim("order:42"), grant.number() + TimeUnit.HOURS.toMicros(1));
        CompletableFuture<CompletionStage<Boolean>> released = new CompletableFuture<>();
        CompletableFuture<Optional<Grant>> claimed = new CompletableFuture<>();
        try (Connection other = DriverManager.getConnection(server.jdbcUrl())) {
            other.setAutoCommit(false);
            SqlSession.execute(other, "SELECT * FROM holdfast_lock_restart FOR UPDATE");
            store.beforeSending("order:42", () -> {
                released.complete(store.release(grant));
                Asked.of(store, above).answer().thenAccept(claimed::complete);
            });
            Set<Long> raises = new HashSet<>();
            await().atMost(SOON).pollInterval(Duration.ofMillis(20)).until(() -> {
                raises.add(number("SELECT coalesce(max(extract(epoch FROM query_start) * 1000), 0)::bigint"
                        + " FROM pg_stat_activity WHERE wait_event_type = 'Lock'"));
                raises.remove(0L);
                return raises.size() > 1; // the second is the repeated one
            });
            other.rollback();
        }

        assertThatThrownBy(() -> Requests.get(Requests.get(released)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("cannot tell whether");
        assertThat(Requests.get(claimed)).isPresent();
    }

    private static Claim claim(String name) {
        return Requests.lease(Requests.claim(name), LEASE);
    }

    private static Grant hold(Store store, Claim claim) {
        return Requests.get(Asked.of(store, claim).answer()).orElseThrow();
    }

    private static Verdict renewed(Store store, Grant grant) {
        return Requests.get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }

    /** Claims again and again, while that is refused or no server answers. */
    private static Grant holdWhenOpen(Store store, Claim claim) {
        return await().atMost(SOON)
                .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                .until(() -> Requests.get(Asked.of(store, claim).answer()), grant -> grant.isPresent())
                .orElseThrow();
    }

    private void sql(String... statements) throws SQLException {
        Sql.run(server.jdbcUrl(), statements);
    }

    private long number(String query) throws SQLException {
        return Sql.number(server.jdbcUrl(), query);
    }

    private long logged(String column) throws SQLException {
        return number("SELECT " + column + " FROM holdfast_lock_restart");
    }

    /** What empties the table. */
    private enum Crash {
        BACKEND {
            @Override
            void happen(UnloggedRowsTest test) throws Exception {
                signal(
                        "KILL",
                        test.number("SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast' LIMIT 1"));
            }
        },
        SERVER {
            @Override
            void happen(UnloggedRowsTest test) throws Exception {
                restart("KILL");
            }
        },
        IMMEDIATE_STOP {
            @Override
            void happen(UnloggedRowsTest test) throws Exception {
                restart("QUIT");
            }
        };

        abstract void happen(UnloggedRowsTest test) throws Exception;
    }

    private static void restart(String signal) throws Exception {
        List<ProcessHandle> backends = ProcessHandle.of(server.process().pid())
                .orElseThrow()
                .descendants()
                .toList();
        signal(signal, server.process().pid());
        server.process().waitFor(SOON);
        for (ProcessHandle backend : backends) { // beside one, the server refuses to start
            backend.onExit().get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        server.process().restart();
    }

    private static void signal(String signal, long pid) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                .start()
                .waitFor();
        assertThat(code).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void aCrashLosesTheHoldAndTheWaiterGetsTheLockWhenItsLeaseIsOver(Crash crash) throws Exception {
        Hold hold = client().lock("crashed", OPTIONS).acquire();
        CompletableFuture<Hold> waiting = client().lock("crashed", OPTIONS).acquireAsync();
        LockClient reader = client();
        await().atMost(SOON).until(() -> reader.lock("crashed").status().waiting() == 1);

        long crashed = System.nanoTime();
        crash.happen(this);

        try (Hold next = waiting.get(SOON.toSeconds(), TimeUnit.SECONDS)) {
            assertThat(Duration.ofNanos(System.nanoTime() - crashed)).isGreaterThan(LEASE);
            assertThat(hold.isValid()).isFalse();
            assertThat(next.token()).isGreaterThan(hold.token());
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
    }

    @Test
    void aTryDuringThePauseSaysWhyAndUntilWhen() throws Exception {
        Store store = store();
        Grant grant = hold(store, claim("early"));
        Crash.SERVER.happen(this);
        Store other = store();

        assertThatThrownBy(() -> Requests.get(Asked.of(other, claim("another")).answer()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("cannot claim 'another' on jdbc:postgresql://")
                .hasMessageContaining("emptied its table of locks")
                .hasMessageContaining("try again in ");
        assertThat(Requests.get(other.status("early")).isHeld()).isFalse();
        assertThat(renewed(other, grant)).isEqualTo(Verdict.LOST);
    }

    @Test
    @Tag("thorough")
    void aStopInOrderKeepsHoldsAndWaiters() throws Exception {
        Store holder = store();
        Grant grant = hold(holder, Requests.claim("kept"));
        Store waiter = store();
        Asked waiting = Asked.of(waiter, Requests.waiting("kept"));
        await().atMost(SOON).until(() -> Requests.get(holder.status("kept")).waiting() == 1);

        restart("INT");

        await().atMost(SOON)
                .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
                .until(() -> renewed(holder, grant) == Verdict.HELD);
        hold(store(), claim("another"));
        assertThat(Requests.get(holder.release(grant))).isTrue();
        assertThat(Requests.get(waiting.answer()).orElseThrow().number()).isGreaterThan(grant.number());
    }

    @Test
    @Tag("thorough")
    void aSecondCrashDuringThePauseBeginsItAgain() throws Exception {
        hold(store(), claim("twice"));
        Crash.SERVER.happen(this);
        assertThatThrownBy(() -> hold(store(), claim("twice"))).isInstanceOf(StoreUnavailableException.class);
        long crashed = System.nanoTime();
        Crash.SERVER.happen(this);

        holdWhenOpen(store(), claim("twice"));

        assertThat(Duration.ofNanos(System.nanoTime() - crashed)).isGreaterThan(LEASE);
    }

    @Test
    @Tag("thorough")
    void thePauseIsAsLongAsTheLongestLeaseSinceTheOneBefore() throws Exception {
        Store store = store();
        Grant grant = hold(store, claim("lease"));
        assertThat(logged("longest_lease")).isEqualTo(2_000_000);
        renewed(store, grant.withLease(Duration.ofSeconds(3)));
        assertThat(logged("longest_lease")).isEqualTo(3_000_000);
        Grant reader = hold(store, Requests.mode(claim("read"), Mode.SHARED));
        renewed(store, reader.withLease(Duration.ofSeconds(4)));
        assertThat(logged("longest_lease")).isEqualTo(4_000_000);

        Crash.SERVER.happen(this);
        holdWhenOpen(store(), claim("lease"));

        assertThat(logged("pause")).isEqualTo(4_000_000);
        assertThat(logged("longest_lease")).isEqualTo(2_000_000);
    }

    /** Sequences of the server give numbers again after a crash, if only an unlogged table has used them. */
    @Test
    @Tag("thorough")
    void numbersRiseOverCrashesAlsoIfTheClockIsSetBack() throws Exception {
        try (ServerClock clock = orSkip(ServerClock::create);
                PostgresServer own = orSkip(() -> PostgresServer.start(clock.environment()))) {
            Duration lease = Duration.ofMillis(300);
            long last = 0;
            for (int crashes = 0; crashes < 4; crashes++) {
                try (Store store = open(own.jdbcUrl() + "&holdfast.unlogged=true")) {
                    Grant next = holdWhenOpen(store, Requests.lease(Requests.claim("rising"), lease));
                    assertThat(next.number()).isGreaterThan(last);
                    last = next.number();
                }
                clock.set(Duration.ofHours(-1 - crashes));
                own.process().kill();
                own.process().restart();
            }
        }
    }

    @Test
    @Tag("thorough")
    void ofManyThatFindTheMarkerMissingOneWritesIt() throws Exception {
        Duration lease = Duration.ofMinutes(1);
        hold(store(), Requests.lease(Requests.claim("many"), lease));
        for (int round = 0; round < 3; round++) {
            Crash.SERVER.happen(this);
            long highest = logged("highest_number");

            ServerCases.together(8, i -> {
                        try (LockClient client = LockClient.connect(url())) {
                            return client.lock("many " + i).tryAcquire();
                        }
                    })
                    .forEach(refused -> assertThat(refused).isCompletedExceptionally());

            assertThat(logged("highest_number")).isEqualTo(highest + 1);
            assertThat(logged("pause")).isEqualTo(60_000_000);
        }
    }

    @Test
    @Tag("thorough")
    void rowsThatWereCopiedToAnotherDatabaseAreNotTrusted() throws Exception {
        Store store = store();
        hold(store, claim("copied"));
        store.close();
        await().atMost(SOON)
                .until(() -> number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holdfast'") == 0);
        Sql.run(server.jdbcUrl().replace("/postgres?", "/template1?"), "CREATE DATABASE copied TEMPLATE postgres");
        Store copy = store(url().replace("/postgres?", "/copied?"));

        assertThatThrownBy(() -> hold(copy, claim("copied"))).isInstanceOf(StoreUnavailableException.class);
        hold(store(), claim("another"));
    }

    @Test
    void aLockAndItsReleaseFlushNothing() throws Exception {
        Store store = store();
        turns(store, 20);
        long bytes = number("SELECT pg_current_wal_insert_lsn() - '0/0'");
        long flushes = flushes();

        turns(store, 500);

        assertThat((number("SELECT pg_current_wal_insert_lsn() - '0/0'") - bytes) / 500)
                .isLessThanOrEqualTo(100);
        assertThat(flushes() - flushes).isLessThan(10);
    }

    private static void turns(Store store, int turns) {
        for (int i = 0; i < turns; i++) {
            assertThat(Requests.get(store.release(hold(store, claim("flushed")))))
                    .isTrue();
        }
    }

    private long flushes() throws SQLException {
        boolean inOneView = number("SHOW server_version_num") < 180_000;
        return number(
                inOneView
                        ? "SELECT wal_sync FROM pg_stat_wal"
                        : "SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'");
    }

    @Test
    void aTableMayHaveAShortName() throws Exception {
        for (String name : List.of("i", "r", "s", "u")) {
            hold(store(url() + "&holdfast.table=" + name), claim("short"));
        }
    }

    @Test
    void clientsOfTheOtherKindAreRefused() throws Exception {
        hold(store(), claim("mixed"));
        assertThatThrownBy(() -> store(server.jdbcUrl()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining(
                        "table holdfast_lock is unlogged, and this client is set to holdfast.unlogged=false");
        assertThatThrownBy(() -> store(url() + "&mode=session")).isInstanceOf(IllegalArgumentException.class);

        store(server.jdbcUrl() + "&holdfast.table=plain");
        assertThatThrownBy(() -> store(url() + "&holdfast.table=plain"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("table plain is logged, and this client is set to holdfast.unlogged=true");
    }

    @Test
    @Tag("thorough")
    void aUserWhoMayNotCreateTheTableIsToldWhatToRun() throws Exception {
        sql("CREATE USER plain", "REVOKE CREATE ON SCHEMA public FROM PUBLIC"); // as it is from PostgreSQL 15 on
        String url = url().replace("user=postgres", "user=plain");
        assertThatThrownBy(() -> store(url))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("missing privilege on table holdfast_lock")
                .hasMessageContaining("'holdfast schema --unlogged postgresql'");
        assertThatThrownBy(() -> store(url + "&holdfast.createTable=false"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("'holdfast schema --unlogged postgresql'");

        String script = JdbcSchema.script("postgresql", JdbcOptions.defaults().unlogged(true));
        sql(script.split(";\\s*\\n"));
        sql(script.lines()
                .filter(line -> line.startsWith("--   GRANT"))
                .map(line -> line.substring(2).replace("application", "plain"))
                .toArray(String[]::new));

        hold(store(url), claim("prepared"));
    }

    @Test
    @Tag("thorough")
    void aServerThatTakesNoWritesIsTold() throws Exception {
        sql("CREATE USER reader", "ALTER USER reader SET default_transaction_read_only = on");
        assertThatThrownBy(() -> store(url().replace("user=postgres", "user=reader")))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("accepts no writes here");
    }

    @Test
    @Tag("thorough")
    void aReplicaIsToldAndAPromotedOnePauses() throws Exception {
        try (ReplicatedPair pair = ReplicatedPair.Kind.POSTGRES.start()) {
            Store before = store(pair.primaryUrl() + "&holdfast.unlogged=true");
            Grant grant = hold(before, claim("promoted"));
            pair.awaitReplicated();
            String replica = pair.replicaUrl() + "&holdfast.unlogged=true";
            assertThatThrownBy(() -> store(replica))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("it is a replica");

            pair.primary().process().kill();
            pair.promote();
            long promoted = System.nanoTime();

            Grant next = holdWhenOpen(store(replica), claim("promoted"));
            assertThat(Duration.ofNanos(System.nanoTime() - promoted)).isGreaterThan(LEASE);
            assertThat(next.number()).isGreaterThan(grant.number());
        }
    }

    @Test
    void otherDatabasesHaveNoSuchTable() {
        assertThatThrownBy(() -> store("jdbc:h2:mem:unlogged;holdfast.unlogged=true"))
                .isInstanceOf(UnsupportedByStoreException.class)
                .hasMessageContaining("only PostgreSQL has them");
        assertThatThrownBy(() -> store("jdbc:mariadb://127.0.0.1:1/test?holdfast.unlogged=true"))
                .isInstanceOf(UnsupportedByStoreException.class);
    }
}
