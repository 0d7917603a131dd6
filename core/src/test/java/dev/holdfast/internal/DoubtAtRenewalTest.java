package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.holdfast.spi.TimeSource;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A doubt that a renewal's answer crosses is not forgotten, whichever of them is first by a step. */
class DoubtAtRenewalTest {
    private Runnable atNextLook = () -> {};
    private final GrantState grant = GrantInterleavingsTest.grant(new TimeSource() {
        @Override
        public long nanoTime() {
            Runnable now = atNextLook;
            atNextLook = () -> {};
            now.run();
            return 5_000_000_000L;
        }

        @Override
        public long wallMillis() {
            return 5_000;
        }

        @Override
        public Scheduled schedule(Runnable task, Duration delay) {
            return () -> {};
        }
    });

    @Test
    void aRenewalThatComesBetweenTheStepsOfADoubtDoesNotUndoIt() {
        atNextLook = () -> assertThat(grant.confirm(grant.grant(), 4_000_000_000L, 0))
                .as("a renewal that was sent before the doubt")
                .isTrue();
        assertThat(grant.doubt()).isTrue();
        assertThat(grant.isSuspect()).isTrue();
        assertThat(grant.isValid()).isFalse();
    }

    @Test
    void aRenewalSentAfterTheDoubtConfirms() {
        grant.doubt();
        assertThat(grant.confirm(grant.grant(), 4_000_000_000L, 0)).isTrue();
        assertThat(grant.isValid()).as("sent before").isFalse();
        assertThat(grant.confirm(grant.grant(), 6_000_000_000L, 0)).isTrue();
        assertThat(grant.isValid()).as("sent after").isTrue();
    }

    /** A session's renewal seems that old if the wall clock is set forward meanwhile. */
    @Test
    void aRenewalThatSeemsTooOldForItsLeaseLosesNothing() {
        grant.doubt();
        assertThat(grant.confirm(grant.grant(), -30_000_000_000L, 0)).isTrue();
        assertThat(grant.hasRunOut()).isFalse();
        assertThat(grant.isSuspect()).as("until it is proved").isTrue();
    }

    /** It may have failed for want of memory, and must end all the same. */
    @Test
    void theEndOfARenewalWithoutAnAnswerTakesNoMemory() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) { // the first may load classes
            GrantState failing = GrantInterleavingsTest.grant();
            failing.beginRenewal();
            failing.toRenew();
            long before = threads.getCurrentThreadAllocatedBytes();
            failing.endRenewal(false);
            bytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(bytes).isZero();
    }
}
