package dev.holdfast.bench.trial;

import dev.holdfast.testbed.RedisServer;
import io.lettuce.core.RedisClient;
import java.time.Duration;

/** The figures of the page on recipes, on one Redis server. */
final class RecipeTrial {
    private RecipeTrial() {}

    /**
     * Runs it.
     *
     * @param seconds how long each single flight goes on
     */
    static boolean run(int seconds) throws Exception {
        try (RedisServer server = RedisServer.start();
                RedisClient redis = RedisClient.create(server.uri())) {
            Trial.describe("a stock of 1,000 pieces in Redis, 2 processes × 32 buyers, each sale takes 5 ms");
            boolean kept = StockTrial.run(server.uri(), redis.connect().sync());
            Trial.describe(
                    "single flight on Redis, 4 processes × 125 readers, a value lives 500 ms, loading takes 50 ms;"
                            + " the process of every tenth load is killed while it loads, its lease is 2 s");
            FlightTrial.head();
            for (boolean stale : new boolean[] {false, true}) {
                kept &= new FlightTrial(server.uri(), redis.connect().sync(), stale).run(Duration.ofSeconds(seconds));
            }
            return kept;
        }
    }
}
