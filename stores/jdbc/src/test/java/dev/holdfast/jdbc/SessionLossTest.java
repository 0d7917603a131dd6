package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.HoldLostException;
import dev.holdfast.LockClient;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.UnsupportedByStoreException;
import dev.holdfast.testbed.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks of a session: what becomes of a hold when the server ends its connection. */
@Timeout(180)
class SessionLossTest {
    private static final int COUPLES = 10;

    @RegisterExtension
    static final BothServers servers = new BothServers();

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aHoldWhoseConnectionIsKilledIsLostAndNobodyElseBelievesBefore(String database) throws Exception {
        assertThat(kill(database, 1, COUPLES)).isNotEmpty();
    }

    @Tag("thorough")
    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void soItIsAHundredTimes(String database) throws Exception {
        // A round takes as long as the next holder waits for the session to end, however many couples there are.
        List<Long> known = kill(database, 4, 25);
        assertThat(known).hasSize(100);
        assertThat(known.get(50)).isLessThanOrEqualTo(2_000); // the others too where the machine is idle
    }

    /** Each couple has a lock: one holds it, the other waits in the server's queue. After how many ms each loss was known. */
    private static List<Long> kill(String database, int rounds, int couples) throws Exception {
        List<Long> known = new ArrayList<>();
        List<Couple> all = new ArrayList<>();
        try {
            for (int i = 0; i < couples; i++) {
                all.add(new Couple(database, "killed " + i));
            }
            for (int round = 0; round < rounds; round++) {
                for (Couple each : all) {
                    each.begin();
                }
                long killed = System.nanoTime();
                servers.killHolders(database);
                for (Couple each : all) {
                    known.add(TimeUnit.NANOSECONDS.toMillis(each.lostAt.get(60, TimeUnit.SECONDS) - killed));
                    assertThat(each.overlapped.get(60, TimeUnit.SECONDS)).isFalse();
                    assertThatThrownBy(each.hold::close).isInstanceOf(HoldLostException.class);
                }
            }
        } finally {
            all.forEach(Couple::close);
        }
        known.sort(null);
        System.out.println(database + ": " + known.size() + " connections killed, loss known after "
                + known.get(known.size() / 2) + " ms (median), " + known.get(known.size() - 1) + " ms (longest)");
        return known;
    }

    private static final class Couple implements AutoCloseable {
        private final LockClient one;
        private final LockClient two;
        private final String name;
        private Hold hold;
        private CompletableFuture<Long> lostAt;
        private CompletableFuture<Boolean> overlapped;

        Couple(String database, String name) throws Exception {
            this.name = name;
            one = LockClient.connect(url(database));
            two = LockClient.connect(url(database));
        }

        /** On connections that the round before has left, or that are new since. */
        void begin() throws InterruptedException {
            hold = one.lock(name).acquire();
            lostAt = new CompletableFuture<>();
            CompletableFuture<Long> lostAt = this.lostAt;
            Hold hold = this.hold;
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
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void theLossIsKnownLongBeforeTheSessionWouldHaveEnded(String database) throws Exception {
        try (LockClient client =
                LockClient.builder(url(database)).session(Duration.ofMinutes(1)).build()) {
            Hold hold = client.lock("killed").acquire();
            CompletableFuture<Loss> lost = new CompletableFuture<>();
            hold.onLost(lost::complete);
            long killed = System.nanoTime();
            servers.killHolders(database);
            lost.get(30, TimeUnit.SECONDS);
            Duration known = Duration.ofNanos(System.nanoTime() - killed);
            System.out.println(database + ": loss known after " + known.toMillis() + " ms");
            assertThat(known).isLessThan(Duration.ofSeconds(5)); // a second where the machine is idle
            assertThat(hold.isValid()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(HoldLostException.class);
        }
    }

    /** A firewall drops the packets of one connection, and says nothing. */
    @ParameterizedTest
    @Tag("thorough")
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aSessionThatFallsSilentTakesNoHoldOfAnotherWithIt(String database) throws Exception {
        try (TcpProxy proxy = TcpProxy.to(servers.port(database));
                LockClient holder = LockClient.connect(url(database));
                LockClient client = LockClient.connect(servers.through(proxy, database, url(database)))) {
            Hold before = holder.lock("on a session of its own").acquire();
            Hold free = client.lock("on the first session").acquire();
            CompletableFuture<Hold> waiting =
                    client.lock("on a session of its own").acquireAsync().toCompletableFuture();
            await().until(() -> holder.lock("on a session of its own").status().waiting() == 1);
            before.close();
            Hold waited = waiting.get(30, TimeUnit.SECONDS);
            assertThat(proxy.clog(0)).isPresent();
            await().until(() -> !free.isValid());
            await().during(Duration.ofSeconds(6)).atMost(Duration.ofSeconds(7)).until(waited::isValid);
            waited.close();
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

    @Test
    void twoModesAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServerUrl.parse("jdbc:postgresql://db/shop?mode=lease&user=app&mode=session"))
                .withMessageContaining("mode");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServerUrl.parse("jdbc:mariadb://db/shop?mode=session&holdfast.mode=session"))
                .withMessageContaining("mode");
    }

    private static String url(String database) {
        return servers.sessions(database);
    }
}
