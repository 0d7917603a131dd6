package dev.holdfast.testbed;

import static dev.holdfast.testbed.OrSkip.orSkip;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("thorough")
class ServerClockTest {
    private static final Duration HOURS = Duration.ofHours(3);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

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

    @Test
    void aWaitEndsWhenItsTimeHasPassed() {
        try (ServerClock clock = orSkip(ServerClock::create)) {
            ChildJvm waiting = ChildJvm.main(Waiting.class);
            clock.environment().forEach(waiting::environment);
            try (ChildProcess child = waiting.start()) {
                child.expect("waiting", PATIENCE);
                assertThat(Await.until(PATIENCE, () -> {
                            clock.pass(HOURS); // again, since a wait may begin after the first
                            return !child.isAlive();
                        }))
                        .as(child::story)
                        .isTrue();
                assertThat(child.lines()).contains("slept", "timed out");
                assertThat(child.waitFor(PATIENCE)).isZero();
            }
        }
    }

    @Test
    void redisKeysExpireWhenTheirTimeHasPassed() {
        try (ServerClock clock = orSkip(ServerClock::create);
                RedisServer redis = orSkip(() -> RedisServer.startInstalled(clock.environment()));
                RespConnection connection = redis.connect()) {
            assertThat(connection.call("SET", "key", "value", "EX", Long.toString(HOURS.toSeconds())))
                    .isEqualTo("OK");
            clock.pass(HOURS.minusMinutes(1));
            assertThat(connection.call("EXISTS", "key")).isEqualTo("1");
            clock.pass(Duration.ofMinutes(2));
            assertThat(connection.call("EXISTS", "key")).isEqualTo("0");
        }
    }

    /** Sleeps, and waits on a socket, for hours. */
    public static final class Waiting {
        private Waiting() {}

        /** Says what it does. */
        public static void main(String[] args) throws Exception {
            long end = System.nanoTime() + HOURS.toNanos();
            Instant wallEnd = Instant.now().plus(HOURS);
            Thread sleeper = new Thread(() -> {
                LockSupport.parkUntil(wallEnd.toEpochMilli());
                LockSupport.parkNanos(end - System.nanoTime());
                System.out.println("slept");
            });
            sleeper.start();
            try (ServerSocket nobodyComes = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                nobodyComes.setSoTimeout((int) HOURS.toMillis());
                System.out.println("waiting");
                nobodyComes.accept();
            } catch (SocketTimeoutException e) {
                sleeper.join();
                System.out.println("timed out");
                System.exit(System.nanoTime() - end < 0 ? 1 : 0);
            }
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
