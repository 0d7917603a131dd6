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
 * The guards side by side on each store. With {@code -Dholdfast.guards=all} it measures every guard, and leaves the
 * tables of docs/comparison.md in target/guards-STORE.md.
 */
@Tag("thorough")
@Timeout(900)
class ComparisonTest {
    private static final boolean ALL = "all".equals(System.getProperty("holdfast.guards"));

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
            List<String> guards = ALL ? sale.figures().guards() : List.of(naive, "holdfast");

            List<Comparison.Row> rows = new Comparison(sale, ComparisonTest::print).measure(guards);

            Files.writeString(Path.of("target", "guards-" + name + ".md"), Comparison.table(rows));
            assertThat(rows).filteredOn(row -> row.guard().equals("holdfast")).allSatisfy(row -> {
                assertThat(row.crowd().tally().sold()).isEqualTo(20);
                assertThat(row.stopped().tally().sold()).isEqualTo(20);
                assertThat(row.stopped().tally().refusals()).isPositive();
                assertThat(row.killed().tally().sold()).isEqualTo(20);
            });
            assertThat(Comparison.table(rows)).contains("oversold").contains("| holdfast | ");
        }
    }

    private static void print(String line) {
        System.err.println(line);
    }
}
