package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.LockClient;
import dev.holdfast.testbed.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The servers' own locks have numbers. No two names ever have the same. */
@Timeout(120)
@Tag("thorough")
class SessionNumbersTest {
    @RegisterExtension
    static final BothServers servers = new BothServers();

    @Test
    void twoNamesWithOneHashDoNotExcludeEachOther() throws Exception {
        try (Connection one = DriverManager.getConnection(servers.url("postgresql"));
                Connection two = DriverManager.getConnection(servers.url("postgresql"));
                LockClient client = LockClient.connect(servers.url("postgresql") + "&mode=session");
                LockClient other = LockClient.connect(servers.url("postgresql") + "&mode=session")) {
            List<String> names = namesWithOneHash(one);
            assertThat(tryHashed(one, names.get(0))).isTrue();
            assertThat(tryHashed(two, names.get(1))).isFalse(); // so it is with hashes
            try (Hold first = client.lock(names.get(0)).acquire();
                    Hold second = other.lock(names.get(1)).tryAcquire().orElseThrow()) {
                assertThat(first.isValid()).isTrue();
                assertThat(second.isValid()).isTrue();
            }
        }
    }

    /** As applications hash names for PostgreSQL. */
    private static boolean tryHashed(Connection connection, String name) throws SQLException {
        return SqlSession.only(
                connection, "SELECT pg_try_advisory_lock(hashtext('" + name + "'))", row -> row.getBoolean(1));
    }

    private static List<String> namesWithOneHash(Connection connection) throws SQLException {
        return SqlSession.only(
                connection,
                "SELECT min(n), max(n) FROM (SELECT 'order:' || i AS n FROM generate_series(1, 300000) i) names"
                        + " GROUP BY hashtext(n) HAVING count(*) > 1 LIMIT 1",
                row -> List.of(row.getString(1), row.getString(2)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aNumberThatAnotherNameHasIsNotGivenAgain(String database) throws Exception {
        SessionRows one = open(url(database), 7);
        SessionRows two = open(url(database), 7, 7, 8, 7, 9);
        try {
            assertThat(one.tryLock("first").row().number()).isEqualTo(7);
            SessionRows.Tried second = two.tryLock("second");
            assertThat(second.locked()).isTrue();
            assertThat(second.row().number()).isEqualTo(8);
            assertThat(two.tryLock("first").locked()).isFalse();
        } finally {
            one.session().close();
            two.session().close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "mariadb"})
    void aNameThatIsBrokenAtOnceIsNotGivenTheNumberOfAnother(String database) throws Exception {
        SessionRows rows = open(url(database), 17, 18, 18, 17, 19);
        try (LockClient client = LockClient.connect(url(database) + "&mode=session")) {
            int first = rows.tryLock("kept").row().number();
            int second = rows.tryLock("broken").row().number();
            rows.unlockAll();
            client.lock("broken").acquire().detach();
            long grant = rows.read("broken").orElseThrow().grantNumber();
            assertThat(rows.breakGrant("broken", grant, true)).isTrue();
            assertThat(rows.read("broken").orElseThrow().number()).isEqualTo(19);
            assertThat(List.of(first, second)).containsExactly(17, 18);
        } finally {
            rows.session().close();
        }
    }

    @Test
    void aTableInOtherLettersHasTheSameLocksWhereTheServerTakesItForTheSame() throws SQLException {
        try (MariaDbServer server = orSkip(() -> MariaDbServer.start("--lower-case-table-names=1"))) {
            SessionRows one = open(server.jdbcUrl() + "&holdfast.schema=test", 27);
            SessionRows two = open(server.jdbcUrl() + "&holdfast.schema=TEST", 28);
            try {
                assertThat(one.tryLock("order").locked()).isTrue();
                assertThat(two.tryLock("order").locked()).isFalse();
            } finally {
                one.session().close();
                two.session().close();
            }
        }
    }

    private static SessionRows open(String jdbcUrl, int... numbers) throws SQLException {
        ServerUrl url = ServerUrl.parse(jdbcUrl).orElseThrow();
        PrimitiveIterator.OfInt next = IntStream.of(numbers).iterator();
        return new SessionOpener(
                        url.dialect(),
                        url.options(),
                        new DriverConnections(url, Optional.empty()),
                        url.description(),
                        new ServerCases.NoWallClock(),
                        SessionStore.SESSION)
                .open(next::nextInt);
    }

    private static String url(String database) {
        return servers.url(database);
    }
}
