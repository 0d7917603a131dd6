package dev.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Durations in messages read as people write them. */
class DurationsTest {

    @Test
    void areWrittenInTheLargestUnitThatLeavesNoRest() {
        assertThat(Durations.text(Duration.ofDays(7))).isEqualTo("7d");
        assertThat(Durations.text(Duration.ofHours(36))).isEqualTo("36h");
        assertThat(Durations.text(Duration.ofMinutes(90))).isEqualTo("90m");
        assertThat(Durations.text(Duration.ofSeconds(30))).isEqualTo("30s");
        assertThat(Durations.text(Duration.ofMillis(1500))).isEqualTo("1500ms");
        assertThat(Durations.text(Duration.ofMillis(1))).isEqualTo("1ms");
        assertThat(Durations.text(Duration.ofNanos(1_500))).isEqualTo("1500ns");
        assertThat(Durations.text(Duration.ofNanos(2_000))).isEqualTo("2us");
        assertThat(Durations.text(Duration.ZERO)).isEqualTo("0s");
        assertThat(Durations.text(Duration.ofSeconds(-5))).isEqualTo("-5s");
    }

    @Test
    void areWrittenSomehowHoweverLong() {
        assertThat(Durations.text(Duration.ofSeconds(Long.MAX_VALUE))).endsWith("s");
        assertThat(Durations.text(Duration.ofSeconds(Long.MAX_VALUE, 1))).startsWith("PT");
        assertThat(Durations.text(Duration.ofSeconds(Long.MIN_VALUE, 1))).startsWith("PT");
    }
}
