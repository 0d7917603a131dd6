package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.MariaDbServer;
import dev.holdfast.testbed.PostgresServer;
import dev.holdfast.testbed.RedisServer;
import dev.holdfast.testbed.ZooKeeperServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The guards side by side on each store: two of them, or every guard with {@code -Dholdfast.guards=all}, or with {@code
 * speed} every guard without faults. {@code ./dev guards} calls it so, and prints the tables of docs/choosing-a-store.md,
 * which are left in target/guards-STORE.md.
 */
@Tag("thorough")
@Timeout(900)
class ComparisonTest {
    private static final String GUARDS = System.getProperty("holdfast.guards", "two");

    @Test
    void onTheEmbeddedStore() throws Exception {
        compare("sqlite", null, "query-and-occupy");
    }

    @Test
    void onRedis() throws Exception {
        try (RedisServer redis = orSkip(RedisServer::start)) {
            compare("redis", redis.uri(), "lua-delete");
        }
    }

    @Test
    void onAQuorumOfRedisServers() throws Exception {
        try (RedisQuorum quorum = new RedisQuorum()) {
            compare("quorum", quorum.url(), "none");
        }
    }

    @Test
    void onPostgres() throws Exception {
        try (PostgresServer postgres = orSkip(PostgresServer::start)) {
            compare("postgresql", postgres.jdbcUrl(), "unique-row");
        }
    }

    @Test
    void onMariaDb() throws Exception {
        try (MariaDbServer mariaDb = orSkip(MariaDbServer::start)) {
            compare("mariadb", mariaDb.jdbcUrl(), "none");
        }
    }

    @Test
    void onZooKeeper() throws Exception {
        try (ZooKeeperServer zooKeeper = orSkip(ZooKeeperServer::start)) {
            compare("zookeeper", "zk://" + zooKeeper.connectString(), "none");
        }
    }

    private static void compare(String name, @Nullable String store, String naive) throws Exception {
        try (FlashSale sale = FlashSale.start(store, 2, 0, ComparisonTest::print)) {
            Path table = Path.of("target", "guards-" + name + ".md");
            Comparison comparison = new Comparison(sale, ComparisonTest::print);
            List<String> all = sale.figures().guards();
            if (GUARDS.equals("speed")) {
                List<Comparison.Speed> speeds = comparison.measureSpeed(all);
                Files.writeString(table, Comparison.speedTable(speeds));
                assertThat(speeds)
                        .allSatisfy(speed -> assertThat(speed.figures().done()).isEqualTo(300));
                return;
            }

            List<Comparison.Row> rows = comparison.measure(GUARDS.equals("all") ? all : List.of(naive, "holdfast"));

            Files.writeString(table, Comparison.table(rows));
            assertThat(rows).filteredOn(row -> row.guard().equals("holdfast")).allSatisfy(row -> {
                assertThat(row.crowd().tally().sold()).isEqualTo(20);
                assertThat(row.stopped().tally().sold()).isEqualTo(20);
                assertThat(row.stopped().tally().refusals()).isPositive();
                assertThat(row.killed().tally().sold()).isEqualTo(20);
            });
            assertThat(Comparison.table(rows))
                    .as("the other guard sells too many, or none once a server is killed")
                    .containsPattern("oversold|stuck")
                    .contains("| holdfast | ");
        }
    }

    private static void print(String line) {
        System.err.println(line);
    }
}
