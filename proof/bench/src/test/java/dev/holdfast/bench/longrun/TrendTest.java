package dev.holdfast.bench.longrun;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrendTest {
    private static final String HEAP = "client: heap, bytes";
    private static final String THREADS = "client: threads";

    /** Of 500,000 renewals in half a week each leaves 16 bytes. */
    @Test
    void aLeakOfAFewBytesForEachRenewalIsGrowth() {
        assertThat(new Trend(8_000_000, 16_000_000, 24_000_000).grows(HEAP)).isTrue();
    }

    @Test
    void aThreadThatStaysEachDayIsGrowth() {
        assertThat(new Trend(20, 24, 27).grows(THREADS)).isTrue();
    }

    @Test
    void whatIsFilledOnceDoesNotGrow() {
        assertThat(new Trend(8_000_000, 16_000_000, 16_000_000).grows(HEAP)).isFalse();
    }

    @Test
    void whatVariesByItselfDoesNotGrow() {
        assertThat(new Trend(8_000_000, 8_000_000, 8_700_000).grows(HEAP)).isFalse();
        assertThat(new Trend(100_000, 100_000, 200_000).grows("store: bytes")).isFalse();
        assertThat(new Trend(3, 3, 5).grows("client: sockets")).isFalse();
        assertThat(new Trend(2_600_000, 400_000, 1_200_000).grows("store: bytes"))
                .isFalse();
    }

    @Test
    void whatShrinksDoesNotGrow() {
        assertThat(new Trend(5_000, 4_000, 0).grows("store: rows")).isFalse();
    }
}
