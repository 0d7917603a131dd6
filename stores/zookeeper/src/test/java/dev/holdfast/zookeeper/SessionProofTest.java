package dev.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.support.ElapsedTime.Moment;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** From when on a session is surely good for its lease. */
class SessionProofTest {
    private static final Duration TICK = Duration.ofSeconds(2);
    private static final long SECOND = 1_000_000_000;

    private final SessionProof proof = new SessionProof(TICK, at(100));

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
    void aWriteAfterSilenceProvesWhatWasAnsweredBeforeIt() {
        answered(101);
        proof.answered(at(155), nanos(155.5));
        answered(160);
        assertThat(seconds()).as("a tick later is no later than proved").isEqualTo(157);
    }

    @Test
    void nothingIsTakenForAnsweredThatTheClientLibraryMayHaveAskedFor() {
        answered(101);
        answered(160);
        assertThat(seconds()).as("the process may have been stopped meanwhile").isEqualTo(103);
    }

    @Test
    void aRequestThatWasUnderWayForLongCountsOnlyIfItsAnswerWasThereInTime() {
        answered(101);
        proof.answered(at(150), nanos(159.5));
        answered(160);
        assertThat(seconds())
                .as("the server may have received it with the write")
                .isEqualTo(103);
        answered(161);
        assertThat(seconds()).isEqualTo(152);
    }

    @Test
    void ofVeryManyRequestsTheLatestAreRemembered() {
        for (int second = 101; second < 10_000; second++) {
            proof.answered(at(second), nanos(second));
        }
        answered(10_000);
        assertThat(seconds()).isEqualTo(10_000);
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
        Moment now = at(160.2);
        assertThat(proof.putOff(now)).isEqualTo(nanos(161.2) - now.nanoTime());
        answered(161.2);
        assertThat(proof.putOff(at(161.3))).isZero();
        assertThat(proof.putOff(at(180))).as("the one before is old enough").isZero();
    }

    @Test
    void toComeBackOnAnotherConnectionIsCountedAtOnceAndProvedByTheNextWrite() {
        answered(101);
        proof.reconnected(at(120));
        assertThat(seconds())
                .as("the leader may be one that the others have left")
                .isEqualTo(101);
        assertThat(proof.putOff(at(120.1))).isZero();
        answered(121);
        assertThat(seconds()).isEqualTo(121);
    }

    @Test
    void whatIsProvedStaysProved() {
        answered(101);
        proof.reconnected(at(99));
        answered(100);
        assertThat(seconds()).isEqualTo(101);
    }

    /** A wall clock that is set forward makes a lease older, and gives a leader no time for its ping. */
    @Test
    void aSleepIsNoTimeInWhichThePingMustHaveCome() {
        answered(120);
        proof.answered(at(130), nanos(130));
        proof.agreed(new Moment(nanos(130.01), 2 * SECOND), nanos(130.01));
        assertThat(seconds()).isEqualTo(122);
    }

    /** A write. */
    private void answered(double at) {
        proof.agreed(at(at), nanos(at));
    }

    private double seconds() {
        return (double) proof.begin() / SECOND;
    }

    private static Moment at(double seconds) {
        return new Moment(nanos(seconds), 0);
    }

    private static long nanos(double at) {
        return Math.round(at * SECOND);
    }
}
