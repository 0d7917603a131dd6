package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("thorough")
class ServerClockTest {
    @Test
    void redisGoesByIt() {
        try (ServerClock clock = orSkip(ServerClock::create);
                RedisServer redis = orSkip(() -> RedisServer.startInstalled(clock.environment()));
                RespConnection connection = redis.connect()) {
            assertObeyed(clock, () -> Long.parseLong(connection.call("TIME").replaceAll("[^0-9]*(\\d+),.*", "$1")));
        }
    }

    @Test
    void mariaDbGoesByIt() {
        try (ServerClock clock = orSkip(ServerClock::create);
                MariaDbServer mariadb = orSkip(() -> MariaDbServer.start(clock.environment()))) {
            assertObeyed(
                    clock,
                    () -> Long.parseLong(
                            asked(mariadb, "select timestampdiff(second, '1970-01-01', utc_timestamp(6))")));
        }
    }

    private static String asked(MariaDbServer mariadb, String question) {
        try {
            return Sql.ask(mariadb.jdbcUrl(), question);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static void assertObeyed(ServerClock clock, LongSupplier seconds) {
        for (Duration offset :
                new Duration[] {Duration.ZERO, Duration.ofHours(5), Duration.ofHours(-7), Duration.ZERO}) {
            clock.set(offset);
            assertThat(Duration.ofSeconds(seconds.getAsLong()))
                    .isCloseTo(Duration.ofMillis(System.currentTimeMillis()).plus(offset), Duration.ofSeconds(5));
        }
    }
}
