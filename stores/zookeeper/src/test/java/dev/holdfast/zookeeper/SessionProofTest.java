package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** From when on a session is surely good for its lease. */
class SessionProofTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration TICK = Duration.ofSeconds(2);
    private static final long SECOND = 1_000_000_000;

    private final SessionProof proof = new SessionProof(TIMEOUT, TICK, 100 * SECOND);

    @Test
    void aSessionIsGoodFromItsOpening() {
        assertThat(seconds()).isEqualTo(100);
        answered(101);
        assertThat(seconds()).isEqualTo(101);
    }

    @Test
    void whereRequestsComeOftenItIsGoodFromTheLast() {
        for (double at = 100; at <= 200; at += 0.5) {
            answered(at);
        }
        assertThat(seconds()).isEqualTo(200);
    }

    @Test
    void aRequestAfterSilenceProvesOnlyThatThePingsBeforeItCameThrough() {
        answered(101);
        answered(160);
        assertThat(seconds())
                .as("a ping in each third of the time-out, of which the last may not have been counted")
                .isBetween(150.0, 152.0);
    }

    @Test
    void anotherALittleLaterProvesTheRest() {
        answered(160);
        answered(161.2);
        assertThat(seconds()).isEqualTo(161.2);
    }

    @Test
    void aRequestForTheProofAloneIsPutOffUntilItProvesSomething() {
        answered(160);
        long now = nanos(160.2);
        assertThat(proof.putOff(now)).isEqualTo(nanos(161.2) - now);
        answered(161.2);
        assertThat(proof.putOff(nanos(161.3))).isZero();
        assertThat(proof.putOff(nanos(180))).as("the one before is old enough").isZero();
    }

    @Test
    void toComeBackOnAnotherConnectionIsCountedAtOnceAndProvedByTheNextWrite() {
        answered(101);
        proof.reconnected(nanos(120));
        assertThat(seconds())
                .as("the leader may be one that the others have left")
                .isEqualTo(101);
        assertThat(proof.putOff(nanos(120.1))).isZero();
        answered(121);
        assertThat(seconds()).isEqualTo(121);
    }

    @Test
    void whatIsProvedStaysProved() {
        answered(101);
        proof.reconnected(nanos(99));
        answered(100);
        assertThat(seconds()).isEqualTo(101);
    }

    private void answered(double at) {
        proof.answered(nanos(at));
    }

    private double seconds() {
        return (double) proof.begin() / SECOND;
    }

    private static long nanos(double at) {
        return Math.round(at * SECOND);
    }
}
