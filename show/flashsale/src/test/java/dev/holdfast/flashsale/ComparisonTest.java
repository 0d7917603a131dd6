package dev.holdfast.flashsale;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testbed.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The guards side by side: two of them, or every guard with {@code -Dholdfast.guards=all}, or with {@code speed} every guard
 * without faults. The table is left in target/guards-STORE.md. On which stores guards hold, and which do not, {@link
 * FlashSaleStoresTest} and {@link TextbookGuardsTest} prove.
 */
@Tag("thorough")
@Timeout(900)
class ComparisonTest {
    private static final String GUARDS = System.getProperty("holdfast.guards", "two");

    @Test
    void onRedis() throws Exception {
        try (RedisServer redis = orSkip(RedisServer::start)) {
            compare("redis", redis.uri(), "none"); // one that waits for nothing, nor for a lock of the dead
        }
    }

    static void compare(String name, @Nullable String store, String naive) throws Exception {
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
