package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Options are values. */
class HoldOptionsTest {
    private final HoldOptions changed = HoldOptions.defaults()
            .lease(Duration.ofSeconds(10))
            .autoRenew(false)
            .maxHold(Duration.ofMinutes(1))
            .handOver(3, Duration.ofMillis(2))
            .strictFifo(true)
            .awaitRelease(true)
            .reentrant(true)
            .retain(Duration.ofSeconds(5));

    @Test
    void eachMethodChangesOneOptionOfACopy() {
        assertThat(HoldOptions.defaults().lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(changed)
                .hasToString("HoldOptions[lease=10s, autoRenew=false, maxHold=1m, handOver=3 or 2ms, strictFifo=true, "
                        + "awaitRelease=true, reentrant=true, retain=5s]");
    }

    @Test
    void aMaximumHoldTimeCanBeTakenBack() {
        assertThat(changed.maxHold()).contains(Duration.ofMinutes(1));
        assertThat(changed.noMaxHold().maxHold()).isEmpty();
        assertThat(changed.noMaxHold().lease()).isEqualTo(changed.lease());
    }

    @Test
    void theyAreEqualWhenAllOptionsAre() {
        HoldOptions back = changed.lease(Duration.ofSeconds(30))
                .autoRenew(true)
                .noMaxHold()
                .handOver(64, Duration.ofMillis(5))
                .strictFifo(false)
                .awaitRelease(false)
                .reentrant(false)
                .retain(Duration.ZERO);
        assertThat(back).isEqualTo(HoldOptions.defaults()).hasSameHashCodeAs(HoldOptions.defaults());
        assertThat(changed).isNotEqualTo(back);
    }
}
