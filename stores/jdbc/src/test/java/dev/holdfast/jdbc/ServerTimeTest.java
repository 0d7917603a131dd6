package dev.holdfast.jdbc;

import static dev.holdfast.jdbc.Requests.get;
import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.LockClient;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.ServerClock;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The database's wall clock, which ends leases there: set back, set forward, and over the changes of summer time. */
@Tag("thorough")
class ServerTimeTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);

    private static final String ZONE = "America/New_York";
    private static final TimeZone HERE = TimeZone.getDefault();

    private static ServerClock clock;
    private static MariaDbServer mariaDb;
    private static PostgresServer postgres;
    private static H2Server h2;

    private Store one;
    private Store two;

    @BeforeAll
    static void startServers() {
        clock = orSkip(ServerClock::create);
        Map<String, String> environment = new HashMap<>(clock.environment());
        environment.put("TZ", ZONE);
        TimeZone.setDefault(TimeZone.getTimeZone(ZONE)); // PostgreSQL's driver makes it the session's
        mariaDb = orSkip(() -> MariaDbServer.start(environment));
        postgres = orSkip(() -> PostgresServer.start(environment, "-c", "timezone=" + ZONE));
        h2 = H2Server.start(environment);
    }

    @AfterAll
    static void stopServers() {
        TimeZone.setDefault(HERE);
        if (h2 != null) {
            h2.close();
        }
        if (postgres != null) {
            postgres.close();
        }
        if (mariaDb != null) {
            mariaDb.close();
        }
        if (clock != null) {
            clock.close();
        }
    }

    @AfterEach
    void closeTheStores() {
        one.close();
        two.close();
        clock.set(Duration.ZERO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql", "h2"})
    void setBackItTakesNothingFromTheHolderAndTokensRise(String server) {
        open(server);
        Grant grant = hold(one);
        assertThat(bites(server, HOUR.negated())).isTrue();

        assertThat(verdict(one, grant)).isEqualTo(Verdict.HELD);
        assertThat(attempt(two)).isEqualTo(0);
        Asked next = Asked.of(two, Requests.waiting("clock"));
        await().atMost(SOON).until(() -> get(one.status("clock")).waiting() == 1);
        assertThat(get(one.release(grant))).isTrue();
        Grant waited = get(next.answer()).orElseThrow();
        assertThat(waited.number()).isGreaterThan(grant.number());
        assertThat(get(two.release(waited))).isTrue();
        assertThat(attempt(one)).isGreaterThan(waited.number());
    }

    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql", "h2"})
    void setForwardItEndsTheLeaseAndTheHolderIsToldAndTokensTellThemApart(String server) {
        open(server);
        Grant grant = hold(one);
        assertThat(attempt(two)).isEqualTo(0);
        assertThat(bites(server, HOUR)).isTrue();

        assertThat(attempt(two)).isGreaterThan(grant.number());

        assertThat(verdict(one, grant)).isEqualTo(Verdict.LOST);
        assertThat(get(one.release(grant))).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "mariadb, 2026-03-08T07:00:00Z",
        "mariadb, 2026-11-01T06:00:00Z",
        "postgresql, 2026-03-08T07:00:00Z",
        "postgresql, 2026-11-01T06:00:00Z",
        "h2, 2026-03-08T07:00:00Z",
        "h2, 2026-11-01T06:00:00Z"
    })
    void theChangesOfSummerTimeAreNoHourToALease(String server, Instant change) {
        open(server);
        Duration lease = Duration.ofMinutes(20); // less than the hour, more than any machine loses here
        clock.set(Duration.between(Instant.now(), change.minusSeconds(120)));
        Grant grant = get(Asked.of(one, Requests.lease(Requests.claim("clock"), lease))
                        .answer())
                .orElseThrow();
        long offset = offset(server);

        clock.set(Duration.between(Instant.now(), change.plusSeconds(1)));
        await().atMost(SOON).until(() -> offset(server) != offset);

        assertThat(attempt(two)).isEqualTo(0);
        assertThat(get(two.status("clock")).grant().orElseThrow().leaseLeft()).isBetween(lease.dividedBy(2), lease);
        assertThat(verdict(one, grant)).isEqualTo(Verdict.HELD);
        assertThat(get(one.release(grant))).isTrue();
    }

    @Test
    void h2CountsInNoClientsZone() {
        open("h2");
        Grant grant = hold(one);
        for (String zone : List.of("America/New_York", "UTC", "Asia/Tokyo")) {
            try (Store elsewhere = new JdbcStoreProvider()
                    .open(h2.url("locks") + ";TIME ZONE=" + zone, new StoreContext(new ServerCases.NoWallClock()))) {
                assertThat(attempt(elsewhere)).as(zone).isEqualTo(0);
                assertThat(get(elsewhere.status("clock")).grant().orElseThrow().leaseLeft())
                        .as(zone)
                        .isBetween(Duration.ZERO, Requests.LEASE);
            }
        }
        assertThat(verdict(one, grant)).isEqualTo(Verdict.HELD);
    }

    private void open(String server) {
        String url = url(server);
        LockClient.connect(url).close(); // makes the table
        sql(url, "DELETE FROM holdfast_lock WHERE host <> ''");
        one = new JdbcStoreProvider().open(url, new StoreContext(new ServerCases.NoWallClock()));
        two = new JdbcStoreProvider().open(url, new StoreContext(new ServerCases.NoWallClock()));
    }

    private static String url(String server) {
        return switch (server) {
            case "mariadb" -> mariaDb.jdbcUrl();
            case "postgresql" -> postgres.jdbcUrl();
            default -> h2.url("locks") + ";TIME ZONE=" + ZONE; // its driver goes by the zone it first met
        };
    }

    /** Sets the clock, and sees that the server goes by it. */
    private static boolean bites(String server, Duration by) {
        long before = seconds(server);
        clock.set(by);
        long moved = seconds(server) - before;
        return Math.abs(moved - by.toSeconds()) < 60;
    }

    private static long seconds(String server) {
        return sql(
                url(server),
                switch (server) {
                    case "mariadb" -> "SELECT UNIX_TIMESTAMP()";
                    case "postgresql" -> "SELECT extract(epoch FROM now())";
                    default -> "SELECT EXTRACT(EPOCH FROM CURRENT_TIMESTAMP)";
                });
    }

    /** Hours between the server's zone and UTC. */
    private static long offset(String server) {
        return sql(
                url(server),
                switch (server) {
                    case "mariadb" -> "SELECT TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW())";
                    case "postgresql" -> "SELECT extract(timezone_hour FROM now())";
                    default -> "SELECT EXTRACT(TIMEZONE_HOUR FROM CURRENT_TIMESTAMP)";
                });
    }

    private static long sql(String url, String text) {
        try (var connection = DriverManager.getConnection(url);
                var statement = connection.createStatement()) {
            if (!statement.execute(text)) {
                return 0;
            }
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                return row.getLong(1);
            }
        } catch (java.sql.SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static Grant hold(Store store) {
        return get(Asked.of(store, Requests.claim("clock")).answer()).orElseThrow();
    }

    /** The number of the grant, or 0. */
    private static long attempt(Store store) {
        return get(Asked.of(store, Requests.claim("clock")).answer())
                .map(Grant::number)
                .orElse(0L);
    }

    private static Verdict verdict(Store store, Grant grant) {
        return get(store.renew(List.of(grant))).get(grant.id()).verdict();
    }
}
