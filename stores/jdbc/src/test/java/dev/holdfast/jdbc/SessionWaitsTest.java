package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.tck.FaultyTime;
import dev.holdfast.tck.IgnoringListener;
import dev.holdfast.testbed.TcpProxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Waits in the server's queue, while clients die, connections fall silent, threads are scarce, and servers have limits. */
@Timeout(180)
class SessionWaitsTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @RegisterExtension
    static final BothServers servers = new BothServers();

    @AutoClose
    private final SessionRig rig = new SessionRig();

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aClientThatDiesWhileItWaitsLeavesTheQueue(String database) {
        SessionStore holder = rig.store(servers.url(database));
        Grant grant = hold(holder, database + " held for long");
        try (TcpProxy proxy = TcpProxy.to(servers.port(database))) {
            SessionStore dying = rig.store(servers.through(proxy, database, servers.url(database)));
            Asked.of(dying, Requests.waiting(database + " held for long"));
            await().atMost(SOON).until(() -> waiting(database, 0) == 1);
            proxy.refuse();
            assertThat(proxy.cut()).isPositive();
            await().atMost(SOON).until(() -> waiting(database, 0) == 0);
            assertThat(get(holder.release(grant))).isTrue();
        }
    }

    /** A firewall drops the packets of one connection, and says nothing. */
    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aSessionThatFallsSilentIsReplaced(String database) {
        try (TcpProxy proxy = TcpProxy.to(servers.port(database))) {
            SessionStore store = rig.store(servers.through(proxy, database, servers.url(database)));
            get(store.release(hold(store, database + " before")));
            for (int i = 0; i < proxy.connections().open(); i++) {
                assertThat(proxy.clog(i)).isPresent();
            }
            CompletionStage<?> deaf = store.status(database + " before");
            assertThatThrownBy(() -> get(deaf)).isInstanceOf(StoreUnavailableException.class);
            await().atMost(SOON)
                    .ignoreExceptions()
                    .until(() -> get(Asked.of(store, Requests.claim(database + " after"))
                                    .answer())
                            .isPresent());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aWaitReportsTheOutageAndItsEnd(String database) {
        SessionStore holder = rig.store(servers.url(database));
        Grant grant = hold(holder, database + " held through an outage");
        try (TcpProxy proxy = TcpProxy.to(servers.port(database))) {
            SessionStore store = rig.store(servers.through(proxy, database, servers.url(database)));
            List<String> reports = new CopyOnWriteArrayList<>();
            store.listen(new Reports(reports));
            Asked waiting = Asked.of(store, Requests.waiting(grant.name()));
            await().atMost(SOON).until(() -> waiting(database, 0) == 1);
            proxy.refuse();
            assertThat(proxy.cut()).isPositive();
            await().atMost(SOON).until(() -> reports.contains("unreachable"));
            proxy.heal();
            await().atMost(SOON).until(() -> last(reports).equals("reachable"));
            assertThat(get(holder.release(grant))).isTrue();
            assertThat(get(waiting.answer())).isPresent();
        }
    }

    /** An administrator ends one session, and the server goes on. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aWaitWhoseOwnSessionIsEndedGoesOnAtTheEndOfTheQueueAndSaysSo(String database) throws SQLException {
        SessionStore holder = rig.store(servers.url(database));
        Grant grant = hold(holder, database + " waited for");
        SessionStore store = rig.store(servers.url(database));
        List<String> reports = new CopyOnWriteArrayList<>();
        store.listen(new Reports(reports));
        try (Warnings warnings = new Warnings("dev.holdfast.jdbc")) {
            Asked waiting = Asked.of(store, Requests.waiting(grant.name()));
            await().atMost(SOON).until(() -> waiting(database, 0) == 1);
            servers.killWaiters(database);
            await().atMost(SOON).until(() -> !warnings.lines().isEmpty());
            await().atMost(SOON).until(() -> waiting(database, 0) == 1);
            assertThat(reports).containsOnly("reachable");
            assertThat(warnings.lines())
                    .singleElement()
                    .asString()
                    .contains("'" + grant.name() + "'", "was ended", "at the end of the queue");
            assertThat(get(holder.release(grant))).isTrue();
            assertThat(get(waiting.answer())).isPresent();
        }
    }

    /** As when a server takes no more connections. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aWaitWhoseOwnSessionCannotBeOpenedPollsAndReportsNoOutage(String database) {
        SessionStore holder = rig.store(servers.url(database));
        Grant grant = hold(holder, database + " polled for");
        try (TcpProxy proxy = TcpProxy.to(servers.port(database))) {
            SessionStore store = rig.store(servers.through(proxy, database, servers.url(database)));
            get(store.release(hold(store, database + " opens the first session")));
            List<String> reports = new CopyOnWriteArrayList<>();
            store.listen(new Reports(reports));
            proxy.refuse();
            Asked waiting = Asked.of(store, Requests.waiting(grant.name()));
            await().atMost(SOON).until(() -> reports.size() >= 5);
            assertThat(reports).containsOnly("reachable");
            assertThat(get(holder.release(grant))).isTrue();
            assertThat(get(waiting.answer())).isPresent();
        }
    }

    @Test
    void aWaitForWhichNoThreadStartsFailsAndTakesNoPlaceFromLaterOnes() {
        SessionStore holder = rig.store(servers.url("postgresql"));
        Grant grant = hold(holder, "waited for without a thread");
        SessionStore store = rig.store(servers.url("postgresql"));
        rig.threads().none(true);
        for (int i = 0; i < SessionPool.MOST_WAITING; i++) {
            Asked refused = Asked.of(store, Requests.waiting(grant.name()));
            assertThatThrownBy(() -> get(refused.answer()))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("no thread");
        }
        rig.threads().none(false);

        Asked waiting = Asked.of(store, Requests.waiting(grant.name()));
        await("in the server's queue").atMost(SOON).until(() -> waiting("postgresql", 0) == 1);
        assertThat(get(holder.release(grant))).isTrue();
        assertThat(get(waiting.answer())).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aWaitThatIsCancelledWhileNoThreadStartsFailsAndLeavesTheQueue(String database) {
        Grant grant = hold(rig.store(servers.url(database)), database + " cancelled without a thread");
        Asked waiting = Asked.of(rig.store(servers.url(database)), Requests.waiting(grant.name()));
        await().atMost(SOON).until(() -> waiting(database, 0) == 1);
        rig.threads().none(true);
        waiting.cancel();
        assertThatThrownBy(() -> get(waiting.answer()))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("no thread");
        rig.threads().none(false);

        await().atMost(SOON).until(() -> waiting(database, 0) == 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aClientClosesWhileNoThreadStarts(String database) {
        SessionStore holder = rig.store(servers.url(database));
        Grant grant = hold(holder, database + " waited for at the close");
        SessionStore closing = rig.store(servers.url(database));
        hold(closing, database + " held at the close");
        Asked waiting = Asked.of(closing, Requests.waiting(grant.name()));
        await().atMost(SOON).until(() -> waiting(database, 0) == 1);
        rig.threads().none(true);

        closing.close();

        assertThatThrownBy(() -> get(waiting.answer())).isInstanceOf(ClientClosedException.class);
        await().atMost(SOON).until(() -> waiting(database, 0) == 0);
        await().atMost(SOON)
                .until(() -> get(Asked.of(holder, Requests.claim(database + " held at the close"))
                                .answer())
                        .isPresent());
        rig.threads().none(false);
    }

    @Test
    void aWaitThatNoTimerWatchesFailsAndLeavesTheQueue() {
        Grant grant = hold(rig.store(servers.url("postgresql")), "waited for without a timer");
        FaultyTime time = new FaultyTime();
        SessionStore store = rig.store(time, servers.url("postgresql"));
        time.failNextTask(Duration.ofSeconds(2)::equals, new OutOfMemoryError("of the test"));
        Asked waiting = Asked.of(store, Requests.waiting(grant.name()));

        assertThatThrownBy(() -> get(waiting.answer()))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("of the test");
        await().atMost(SOON).until(() -> waiting("postgresql", 0) == 0);
    }

    private static String last(List<String> reports) {
        return reports.get(reports.size() - 1);
    }

    /** What a store reports of its server. */
    private static final class Reports extends IgnoringListener {
        private final List<String> reports;

        Reports(List<String> reports) {
            this.reports = reports;
        }

        @Override
        public void unreachable(String name, Throwable why) {
            reports.add("unreachable");
        }

        @Override
        public void reachable() {
            reports.add("reachable");
        }
    }

    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void theServersOwnLimitEndsNoWait(String database) throws SQLException {
        limit(database, 2);
        try {
            SessionStore holder = rig.store(servers.url(database));
            SessionStore waiter = rig.store(servers.url(database));
            hold(holder, database + " limited");
            Asked waiting = Asked.of(waiter, Requests.waiting(database + " limited"));
            await().atMost(SOON).until(() -> waiting(database, 5) == 1);
            waiting.cancel();
            assertThat(get(waiting.answer())).isEmpty();
        } finally {
            limit(database, 0);
        }
    }

    private static void limit(String database, int seconds) throws SQLException {
        if (database.equals("mariadb")) {
            servers.sql(database, "SET GLOBAL max_statement_time = " + seconds);
        } else {
            boolean limitsTransactions = servers.count(database, "SHOW server_version_num") >= 170_000;
            servers.sql(
                    database,
                    "ALTER SYSTEM SET statement_timeout = '" + seconds + "s'",
                    limitsTransactions ? "ALTER SYSTEM SET transaction_timeout = '" + seconds + "s'" : "SELECT 1",
                    "SELECT pg_reload_conf()");
        }
    }

    /** The server ends the session of the next one when it is silent for six seconds, and it must wait for ten. */
    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aShortSessionKeepsItsTurnBehindALongOne(String database) throws Exception {
        SessionStore longOne = rig.store(servers.url(database), Duration.ofSeconds(10));
        SessionStore shortOne = rig.store(servers.url(database), Duration.ofSeconds(2));
        SessionStore behind = rig.store(servers.url(database));
        String name = database + " in turn";
        hold(longOne, name);
        Asked first = Asked.of(shortOne, Requests.waiting(name));
        await().atMost(SOON).until(() -> waiting(database, 0) == 1);
        Asked second = Asked.of(behind, Requests.waiting(name));
        await().atMost(SOON).until(() -> waiting(database, 0) == 2);
        servers.killHolders(database);
        first.answer()
                .toCompletableFuture()
                .applyToEither(second.answer(), grant -> grant)
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(second.answer()).isNotDone();
        assertThat(get(shortOne.release(get(first.answer()).orElseThrow()))).isTrue();
        assertThat(get(second.answer())).isPresent();
    }

    /** The first waiter is not in the server's own queue then, and the lock may be free. */
    @Test
    void aTryIsNotGrantedBetweenTwoStatementsOfAWaiter() throws SQLException {
        SessionStore store = rig.store(servers.url("postgresql"));
        get(store.release(hold(store, "between statements")));
        try (Connection waiter = DriverManager.getConnection(servers.url("postgresql"))) {
            SqlSession.only(
                    waiter,
                    "SELECT pg_advisory_lock_shared('holdfast_lock_session'::regclass::oid::int4 # number, 0) FROM"
                            + " holdfast_lock_session WHERE name = 'between statements'",
                    row -> true);
            assertThat(get(Asked.of(store, Requests.claim("between statements")).answer()))
                    .isEmpty();
        }
        await().atMost(SOON)
                .until(() -> get(Asked.of(store, Requests.claim("between statements"))
                                .answer())
                        .isPresent());
    }

    /** Of a try that was not granted nothing is left that keeps out another, even if its statement has not ended. */
    @Test
    void aTryThatFoundTheLockHeldKeepsNobodyOut() throws SQLException {
        SessionStore store = rig.store(servers.url("postgresql"));
        Grant grant = hold(store, "tried twice");
        try (Connection first = DriverManager.getConnection(servers.url("postgresql"))) {
            first.setAutoCommit(false);
            PostgresSessions sessions = new PostgresSessions();
            String tryLock = sessions.tryLock("(" + sessions.scope("holdfast_lock_session") + ")", "s.number");
            String of = " FROM holdfast_lock_session s WHERE s.name = 'tried twice'";
            boolean granted = SqlSession.only(first, "SELECT " + tryLock + of, row -> row.getBoolean(1));
            assertThat(granted).isFalse();

            assertThat(get(store.release(grant))).isTrue();

            assertThat(get(Asked.of(store, Requests.claim("tried twice")).answer()))
                    .isPresent();
        }
    }

    @Test
    void aGrantIsOnDiskWhereTheServerDelaysCommits() throws SQLException {
        servers.sql("postgresql", "ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()");
        try {
            String url = servers.url("postgresql");
            await().atMost(SOON).until(() -> setting("off") == 1);
            SessionRows session =
                    rig.opener(new Meddling(url), url, SessionStore.SESSION).open();
            try {
                String commit = session.session().only("SHOW synchronous_commit", row -> row.getString(1));
                assertThat(commit).isEqualTo("on");
            } finally {
                session.session().close();
            }
        } finally {
            servers.sql("postgresql", "ALTER SYSTEM SET synchronous_commit = on", "SELECT pg_reload_conf()");
        }
    }

    private static long setting(String commit) throws SQLException {
        return servers.count(
                "postgresql",
                "SELECT CASE current_setting('synchronous_commit') WHEN '" + commit + "' THEN 1 ELSE 0 END");
    }

    private static Grant hold(SessionStore store, String name) {
        return get(Asked.of(store, Requests.claim(name)).answer()).orElseThrow();
    }

    /** How many sessions have waited for a lock for so long. */
    private static long waiting(String database, int seconds) throws SQLException {
        return servers.count(
                database,
                database.equals("mariadb")
                        ? "SELECT count(*) FROM information_schema.processlist WHERE state = 'User lock' AND time >= "
                                + seconds
                        : "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory'"
                                + " AND l.granted AND l.mode = 'ExclusiveLock' AND l.classid <>"
                                + " 'holdfast_lock_session'::regclass AND a.backend_start <= now() - interval '"
                                + seconds
                                + " s'"); // tickets, which end with their sessions
    }
}
