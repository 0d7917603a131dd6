package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holder;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Claim;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sessions with locks, and claims that wait, do not disturb other users of the server, nor those the holds. */
@Timeout(180)
class SessionMannersTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @RegisterExtension
    static final BothServers servers = new BothServers();

    @AutoClose
    private final SessionRig rig = new SessionRig();

    @Test
    void theHoldersIndexIsBuiltWhileAClaimWaits() throws Exception {
        hold(rig.store(servers.url("postgresql")), "index");
        Asked waiting = Asked.of(rig.store(servers.url("postgresql")), Requests.waiting("index"));
        awaitWaiting("postgresql", "index", 1);
        servers.sql(
                "postgresql",
                "DROP TABLE IF EXISTS indexed",
                "CREATE TABLE indexed (id int)",
                "SET statement_timeout = '20s'",
                "CREATE INDEX CONCURRENTLY made_by_the_holder ON indexed (id)");
        assertThat(waiting.answer()).isNotDone();
    }

    @Test
    @Tag("thorough")
    void vacuumRemovesWhatWasDeletedAfterAClaimBeganToWait() throws Exception {
        hold(rig.store(servers.url("postgresql")), "vacuum");
        Asked waiting = Asked.of(rig.store(servers.url("postgresql")), Requests.waiting("vacuum"));
        awaitWaiting("postgresql", "vacuum", 1);
        long now = servers.count("postgresql", "SELECT txid_current()");
        await().atMost(SOON)
                .until(() -> servers.count(
                                "postgresql",
                                "SELECT count(*) FROM pg_stat_activity WHERE backend_xmin::text::bigint <= " + now
                                        + " AND pid <> pg_backend_pid()")
                        == 0);
        assertThat(waiting.answer()).isNotDone();
    }

    @Test
    void aWaitOnMariaDbHoldsNoTransactionAndNoTable() throws Exception {
        hold(rig.store(servers.url("mariadb")), "alter");
        Asked waiting = Asked.of(rig.store(servers.url("mariadb")), Requests.waiting("alter"));
        awaitWaiting("mariadb", "alter", 1);
        servers.sql(
                "mariadb",
                "SET lock_wait_timeout = 20",
                "ALTER TABLE holdfast_lock_session COMMENT = 'altered while a claim waits'");
        await().atMost(SOON)
                .until(() -> servers.count("mariadb", "SELECT count(*) FROM information_schema.innodb_trx") == 0);
        assertThat(waiting.answer()).isNotDone();
    }

    /** The third leaves while it waits. */
    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void waitersAreServedInTheirOrderHoweverLongTheyWait(String database) throws Exception {
        String name = database + " in order";
        SessionStore holder = rig.store(servers.url(database));
        Grant held = hold(holder, name);
        List<Integer> served = new CopyOnWriteArrayList<>();
        List<Asked> waiting = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int place = i;
            SessionStore store = rig.store(servers.url(database));
            Asked each = Asked.of(store, Requests.waiting(name));
            each.answer().whenComplete((grant, failure) -> {
                if (failure == null && grant.isPresent()) {
                    served.add(place);
                    store.release(grant.orElseThrow());
                }
            });
            waiting.add(each);
            awaitWaiting(database, name, i + 1);
        }
        waiting.get(2).cancel();
        awaitWaiting(database, name, 5);
        awaitStatements(database, 3);
        get(holder.release(held));
        await().atMost(SOON).until(() -> served.size() == 5);
        assertThat(served).containsExactly(0, 1, 3, 4, 5);
    }

    @Test
    @Tag("thorough")
    void aClientHasNoMoreLocksThanItsPartOfTheServersTable() throws Exception {
        try (PostgresServer small =
                orSkip(() -> PostgresServer.start("-c", "max_locks_per_transaction=10", "-c", "max_connections=100"))) {
            SessionStore store = rig.store(small.jdbcUrl());
            List<Grant> grants = new ArrayList<>();
            assertThatThrownBy(() -> {
                        while (grants.size() < 5_000) {
                            grants.add(hold(store, "name " + grants.size()));
                        }
                    })
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("'name 100'")
                    .hasMessageContaining("max_locks_per_transaction");
            assertThatThrownBy(() ->
                            get(Asked.of(store, Requests.waiting("another")).answer()))
                    .isInstanceOf(StoreRefusedException.class);
            assertThat(grants).hasSize(100);
            get(store.release(grants.remove(99)));
            grants.add(hold(store, "another"));
            assertThat(get(store.renew(grants)).values()).allMatch(each -> each.verdict() == Renewal.Verdict.HELD);
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aRowThatSomebodyLocksCostsNoOtherHold(String database) throws Exception {
        try (LockClient client = LockClient.connect(servers.sessions(database));
                Connection somebody = DriverManager.getConnection(servers.url(database));
                Statement statement = somebody.createStatement()) {
            client.lock("locked by somebody").acquire().close();
            Hold hold = client.lock("not locked by anybody").acquire();
            List<Loss> losses = new CopyOnWriteArrayList<>();
            hold.onLost(losses::add);
            somebody.setAutoCommit(false);
            statement.execute("SELECT 1 FROM holdfast_lock_session WHERE name = 'locked by somebody' FOR UPDATE");
            long until = System.nanoTime() + Duration.ofSeconds(12).toNanos();
            while (System.nanoTime() < until) {
                assertThatThrownBy(() -> client.lock("locked by somebody").tryAcquire())
                        .isInstanceOf(StoreUnavailableException.class);
                assertThat(hold.isValid()).isTrue();
            }
            assertThat(losses).isEmpty();
            somebody.rollback();
            client.lock("locked by somebody").acquire().close();
            hold.close();
        }
    }

    /** Its lock is with the server when its row cannot be written. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    @Tag("thorough")
    void aReleaseOfARowThatSomebodyLocksCostsNoOtherHoldAndIsMade(String database) throws Exception {
        try (LockClient client = LockClient.connect(servers.sessions(database));
                LockClient other = LockClient.connect(servers.sessions(database));
                Connection somebody = DriverManager.getConnection(servers.url(database));
                Statement statement = somebody.createStatement()) {
            Hold released = client.lock("released").acquire();
            Hold hold = client.lock("kept").acquire();
            somebody.setAutoCommit(false);
            statement.execute("SELECT 1 FROM holdfast_lock_session WHERE name = 'released' FOR UPDATE");
            released.close();
            long until = System.nanoTime() + Duration.ofSeconds(8).toNanos();
            await().atMost(SOON).during(Duration.ofSeconds(8)).until(hold::isValid);
            assertThat(System.nanoTime()).isGreaterThanOrEqualTo(until);
            somebody.rollback();
            other.lock("released").acquire().close();
            hold.close();
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void textsForPeopleMayBeLongAndStrange(String database) {
        String strange = "\0\uD83D\uDE00\uD83D" + "long ".repeat(100) + "\uD83D\uDE00";
        Claim plain = Requests.claim(database + " texts");
        Claim claim = new Claim(
                plain.id(),
                plain.name(),
                plain.mode(),
                plain.lease(),
                false,
                0,
                new Holder(strange, 7, strange, strange));
        SessionStore store = rig.store(servers.url(database));
        assertThat(get(Asked.of(store, claim).answer())).isPresent();
        Holder shown =
                get(store.status(database + " texts")).grant().orElseThrow().holder();
        assertThat(shown.thread())
                .startsWith("?\uD83D\uDE00?")
                .contains("long long")
                .hasSizeLessThanOrEqualTo(255);
    }

    private static Grant hold(SessionStore store, String name) {
        return get(Asked.of(store, Requests.claim(name)).answer()).orElseThrow();
    }

    private void awaitWaiting(String database, String name, int number) {
        SessionStore looking = rig.store(servers.url(database));
        await().atMost(SOON).until(() -> get(looking.status(name)).waiting() == number);
    }

    /** Until each waiter has sent so many new statements; on MariaDB, each waits in one statement. */
    private static void awaitStatements(String database, int number) throws Exception {
        for (int i = 0; i < number && database.equals("postgresql"); i++) {
            long now = servers.count(database, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
            await().atMost(SOON)
                    .until(() -> servers.count(
                                    database,
                                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND"
                                            + " wait_event = 'advisory' AND query_start < to_timestamp(" + now
                                            + " / 1e6)")
                            == 0);
        }
    }
}
