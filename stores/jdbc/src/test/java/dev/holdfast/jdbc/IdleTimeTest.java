package dev.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the ends of connections say of how long they may be idle. */
class IdleTimeTest {
    private static final long TWO_SECONDS = Duration.ofSeconds(2).toNanos();
    private static final long THREE_SECONDS = Duration.ofSeconds(3).toNanos();
    private final IdleTime idleTime = new IdleTime();

    @Test
    void aRestartThatEndsAllConnectionsHasNoneKeptAlive() {
        long before = System.nanoTime();
        idleTime.ended(before, TWO_SECONDS);
        idleTime.ended(before, THREE_SECONDS);

        assertNoneIsKeptAlive();
    }

    @Test
    void twoEndsOneAfterTheOtherHaveAllKeptAlive() {
        idleTime.ended(System.nanoTime(), THREE_SECONDS);
        idleTime.ended(later(), TWO_SECONDS);

        assertThat(idleTime.most()).isEqualTo(TWO_SECONDS / 3);
    }

    @Test
    void twoRestartsBetweenWhichOneWasIdleForAsLongHaveNoneKeptAlive() {
        idleTime.ended(System.nanoTime(), TWO_SECONDS);
        idleTime.survived(THREE_SECONDS);
        idleTime.ended(later(), TWO_SECONDS);

        assertNoneIsKeptAlive();
    }

    private void assertNoneIsKeptAlive() {
        assertThat(idleTime.most()).isGreaterThan(Duration.ofDays(365).toNanos());
    }

    private static long later() {
        return System.nanoTime() + 1;
    }
}
