package dev.holdfast.jdbc;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Claim;
import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.Grant;
import dev.holdfast.spi.Mode;
import dev.holdfast.spi.Renewal;
import dev.holdfast.spi.Renewal.Verdict;
import dev.holdfast.spi.Store;
import dev.holdfast.spi.StoreContext;
import dev.holdfast.spi.support.Asked;
import dev.holdfast.testbed.LocalServer;
import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Renewals in one statement, of which one row makes trouble. */
@Tag("thorough")
class RenewalIsolationTest {
    private static final int GRANTS = 20;
    private static final int BAD = 7;

    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql"})
    void aRowThatSomebodyKeepsLockedLeavesTheOthersRenewed(String kind) throws Exception {
        try (LocalServer server = start(kind);
                Store store = open(server);
                Connection somebody = DriverManager.getConnection(url(server));
                Statement statement = somebody.createStatement()) {
            List<Grant> grants = hold(store, Mode.EXCLUSIVE);
            somebody.setAutoCommit(false);
            statement.executeQuery(
                    "SELECT * FROM holdfast_lock WHERE name = 'lock " + (char) ('a' + BAD) + "' FOR UPDATE");

            for (int round = 0; round < 2; round++) {
                assertOnlyTheBadOneIsUnknown(grants, renew(store, grants));
            }

            somebody.rollback();
            assertThat(renew(store, grants).values()).allMatch(renewal -> renewal.verdict() == Verdict.HELD);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "postgresql"})
    void aRowThatCannotBeReadLeavesTheOthersRenewed(String kind) throws Exception {
        try (LocalServer server = start(kind);
                Store store = open(server);
                Connection somebody = DriverManager.getConnection(url(server));
                Statement statement = somebody.createStatement()) {
            List<Grant> grants = hold(store, Mode.SHARED);
            statement.execute(
                    "UPDATE holdfast_lock SET sharing = 'garbage' WHERE name = 'lock " + (char) ('a' + BAD) + "'");

            assertOnlyTheBadOneIsUnknown(grants, renew(store, grants));
        }
    }

    private static void assertOnlyTheBadOneIsUnknown(List<Grant> grants, Map<ClaimId, Renewal> renewals) {
        for (int i = 0; i < GRANTS; i++) {
            assertThat(renewals.get(grants.get(i).id()).verdict())
                    .as("grant %s", i)
                    .isEqualTo(i == BAD ? Verdict.UNKNOWN : Verdict.HELD);
        }
    }

    /** A locked row costs a time-out for each of a few rounds. */
    private static Map<ClaimId, Renewal> renew(Store store, List<Grant> grants) throws Exception {
        return store.renew(grants).toCompletableFuture().get(2, TimeUnit.MINUTES);
    }

    private static List<Grant> hold(Store store, Mode mode) {
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < GRANTS; i++) {
            Claim claim = Requests.lease(
                    Requests.mode(Requests.claim("lock " + (char) ('a' + i)), mode), java.time.Duration.ofMinutes(5));
            grants.add(Requests.get(Asked.of(store, claim).answer()).orElseThrow());
        }
        return grants;
    }

    private static LocalServer start(String kind) {
        return orSkip(() -> kind.equals("mariadb") ? MariaDbServer.start() : PostgresServer.start());
    }

    private static Store open(LocalServer server) {
        return new JdbcStoreProvider()
                .open(url(server) + "&holdfast.connections=1", new StoreContext(new ServerCases.NoWallClock()));
    }

    private static String url(LocalServer server) {
        return server instanceof MariaDbServer mariaDb ? mariaDb.jdbcUrl() : ((PostgresServer) server).jdbcUrl();
    }
}
