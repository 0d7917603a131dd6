package dev.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimId;
import dev.holdfast.spi.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The memory of claims that were sent twice. */
class ResentClaimsTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofHours(1);

    private final Time time = new Time();
    private final ResentClaims claims = new ResentClaims(time);

    /** Their clients were killed, or lost them without a report. */
    @Test
    void claimsThatAreNotSeenAgainAreForgotten() {
        for (int i = 0; i < 1_000; i++) {
            claims.add(ClaimId.random(), LEASE);
        }
        time.now += LONG.toNanos();

        claims.add(ClaimId.random(), LEASE);

        assertThat(claims.size()).isEqualTo(1);
    }

    @Test
    void oneThatIsHeldIsKeptHoweverLong() {
        ClaimId held = ClaimId.random();
        claims.add(held, LEASE);
        for (int i = 0; i < 100; i++) {
            time.now += LEASE.toNanos();
            claims.keep(held, LEASE);
            claims.add(ClaimId.random(), LEASE);
        }

        assertThat(claims.remove(held)).isTrue();
        assertThat(claims.remove(held)).as("again").isFalse();
    }

    /** In an outage, when all waiters ask again and again. */
    @Test
    @Timeout(20)
    void veryManyAreAddedWithoutCheckingAllOfThemEachTime() {
        for (int i = 0; i < 200_000; i++) {
            claims.add(ClaimId.random(), LEASE);
        }

        assertThat(claims.size()).isEqualTo(200_000);
    }

    @Test
    void aLongLeaseIsWaitedFor() {
        ClaimId held = ClaimId.random();
        claims.add(held, LONG);
        time.now += LONG.toNanos();
        claims.add(ClaimId.random(), LEASE);

        assertThat(claims.remove(held)).isTrue();
    }

    private static final class Time implements TimeSource {
        long now = Long.MAX_VALUE - LONG.toNanos(); // it overflows on the way

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public long wallMillis() {
            throw new AssertionError("asks no wall clock");
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            throw new AssertionError("needs no timer");
        }
    }
}
