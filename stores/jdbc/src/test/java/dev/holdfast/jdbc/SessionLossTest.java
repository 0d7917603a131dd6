package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks of a session: what becomes of a hold when the server ends its connection. */
@Timeout(180)
class SessionLossTest {
    private static final int ROUNDS = 1;
    private static final int COUPLES = 10;

    private static MariaDbServer mariaDb;
    private static PostgresServer postgres;

    @BeforeAll
    static void startServers() {
        mariaDb = orSkip(() -> MariaDbServer.start());
        postgres = orSkip(() -> PostgresServer.start());
    }

    @AfterAll
    static void stopServers() {
        if (postgres != null) {
            postgres.close();
        }
        if (mariaDb != null) {
            mariaDb.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aHoldWhoseConnectionIsKilledIsLostAndNobodyElseBelievesBefore(String database) throws Exception {
        kill(database, ROUNDS, COUPLES);
    }

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void soItIsAHundredTimes(String database) throws Exception {
        kill(database, 10 * ROUNDS, COUPLES);
    }

    /** Each couple has a lock: one holds it, the other waits for it in the server's queue. */
    private static void kill(String database, int rounds, int couples) throws Exception {
        List<Long> known = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            List<Couple> all = new ArrayList<>();
            try {
                for (int i = 0; i < couples; i++) {
                    all.add(new Couple(database, "killed " + i));
                }
                long killed = System.nanoTime();
                killSessionsThatHold(database);
                for (Couple each : all) {
                    known.add(TimeUnit.NANOSECONDS.toMillis(each.lostAt.get(60, TimeUnit.SECONDS) - killed));
                    assertThat(each.overlapped.get(60, TimeUnit.SECONDS)).isFalse();
                    assertThatThrownBy(each.hold::close).isInstanceOf(HoldLostException.class);
                }
            } finally {
                all.forEach(Couple::close);
            }
        }
        known.sort(null);
        System.out.println(database + ": " + known.size() + " connections killed, loss known after "
                + known.get(known.size() / 2) + " ms (median), " + known.get(known.size() - 1) + " ms (longest)");
    }

    private static final class Couple implements AutoCloseable {
        private final LockClient one;
        private final LockClient two;
        private final Hold hold;
        private final CompletableFuture<Long> lostAt = new CompletableFuture<>();
        private final CompletableFuture<Boolean> overlapped;

        Couple(String database, String name) throws Exception {
            one = LockClient.connect(url(database));
            two = LockClient.connect(url(database));
            hold = one.lock(name).acquire();
            hold.onLost(loss -> lostAt.complete(System.nanoTime()));
            overlapped = two.lock(name).acquireAsync().thenApply(next -> {
                boolean both = hold.isValid();
                assertThat(next.token()).isGreaterThan(hold.token());
                next.close();
                return both;
            });
        }

        @Override
        public void close() {
            two.close();
            one.close();
        }
    }

    /** With a session of a minute, only the broken connection itself can say it so soon. */
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void theLossIsKnownLongBeforeTheSessionWouldHaveEnded(String database) throws Exception {
        try (LockClient client =
                LockClient.builder(url(database)).session(Duration.ofMinutes(1)).build()) {
            Hold hold = client.lock("killed").acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            long killed = System.nanoTime();
            killSessionsThatHold(database);
            lost.get(30, TimeUnit.SECONDS);
            Duration known = Duration.ofNanos(System.nanoTime() - killed);
            System.out.println(database + ": loss known after " + known.toMillis() + " ms");
            assertThat(known).isLessThan(Duration.ofSeconds(5)); // a second where the machine is idle
            assertThat(hold.isValid()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aNameThatIsBrokenAtOnceHasAnotherLockOfTheServer(String database) throws Exception {
        try (LockClient one = LockClient.connect(url(database));
                LockClient two = LockClient.connect(url(database))) {
            Hold other = one.lock("stays").acquire();
            Hold hold = one.lock("broken").acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            assertThat(two.breakGrant("broken", hold.token(), true)).isTrue();
            try (Hold next = two.lock("broken").acquire()) {
                assertThat(next.token()).isGreaterThan(hold.token());
                assertThat(other.isValid()).isTrue();
            }
            lost.get(30, TimeUnit.SECONDS);
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
            other.close();
        }
    }

    @Test
    void theyAreExclusive() throws Exception {
        try (LockClient client = LockClient.connect(url("postgresql"))) {
            assertThatThrownBy(() -> client.readWriteLock("readers")).isInstanceOf(UnsupportedByStoreException.class);
            assertThatThrownBy(() -> client.semaphore("permits", 3)).isInstanceOf(UnsupportedByStoreException.class);
        }
    }

    @Test
    void whereThereAreNoneTheyAreRefused() {
        assertThatThrownBy(() -> LockClient.connect("jdbc:h2:mem:sessions;mode=session"))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("H2 has no locks that end with a session");
        assertThatThrownBy(() -> LockClient.connect("jdbc:sqlite:locks.db?mode=session"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("for a SQLite file, sqlite:PATH");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect(url("postgresql").replace("mode=session", "mode=sesion")))
                .withMessageContaining("lease, session");
    }

    @Test
    void theOtherParametersStay() {
        for (String url : List.of(
                "jdbc:postgresql://db/shop?mode=session&user=app",
                "jdbc:postgresql://db/shop?user=app&holdfast.mode=session",
                "jdbc:postgresql://db/shop?holdfast.table=other&mode=session&user=app")) {
            ServerUrl parsed = ServerUrl.parse(url).orElseThrow();
            assertThat(parsed.sessions()).isTrue();
            assertThat(parsed.jdbcUrl()).isEqualTo("jdbc:postgresql://db/shop?user=app");
        }
        assertThat(ServerUrl.parse("jdbc:h2:mem:x;MODE=PostgreSQL")
                        .orElseThrow()
                        .sessions())
                .isFalse();
    }

    /** All sessions that have a lock now: those of the holders alone. */
    private static void killSessionsThatHold(String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server(database));
                Statement statement = connection.createStatement()) {
            if (database.equals("postgresql")) {
                statement.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted");
                return;
            }
            String scope = SqlSession.only(
                    connection, new MariaDbSessions().scope("holdfast_lock_session"), row -> row.getString(1));
            List<Long> holders = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery("SELECT IS_USED_LOCK(CONCAT('" + scope
                    + "', number)) AS holder FROM holdfast_lock_session HAVING holder IS NOT NULL")) {
                while (rows.next()) {
                    holders.add(rows.getLong(1));
                }
            }
            for (long holder : holders) {
                statement.execute("KILL " + holder);
            }
        }
    }

    private static String url(String database) {
        return server(database) + "&mode=session";
    }

    private static String server(String database) {
        return database.equals("mariadb") ? mariaDb.jdbcUrl() : postgres.jdbcUrl();
    }
}
