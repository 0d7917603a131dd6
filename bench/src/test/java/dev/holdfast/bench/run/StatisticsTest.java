package dev.holdfast.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class StatisticsTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void jainsIndexIsOneForEqualSharesAndTheInverseOfTheNumberWhenOneHasAll() {
        assertThat(Statistics.jain(List.of(5L, 5L, 5L, 5L))).isEqualTo(1);
        assertThat(Statistics.jain(List.of(8L, 0L, 0L, 0L))).isEqualTo(0.25);
        assertThat(Statistics.jain(List.of(1L, 2L, 3L))).isCloseTo(36.0 / 42, within(1e-9));
        assertThat(Statistics.jain(List.of(0L, 0L))).isEqualTo(1);
    }

    @Test
    void theMedianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle() {
        assertThat(Statistics.median(List.of(9.0, 1.0, 5.0))).isEqualTo(5);
        assertThat(Statistics.median(List.of(9.0, 1.0, 5.0, 7.0))).isEqualTo(6);
    }

    @Test
    void aRoundIsCountedPerSecondAndPerTurn() {
        Histogram waits = Tally.histogram();
        waits.recordValueWithCount(1_000_000, 10);
        Tally tally = new Tally(List.of(4L, 6L), 11, 11, 0, waits, Tally.histogram(), Tally.histogram(), 22_000, 0);
        Sample sample = Sample.of(tally, 2 * SECOND, 9, 33_000, Map.of("scripts", 22.0));
        assertThat(sample.perSecond()).isEqualTo(5);
        assertThat(sample.lost()).as("11 updates, of which the counter shows 9").isEqualTo(2);
        assertThat(sample.clientMicros()).isEqualTo(2);
        assertThat(sample.serverMicros()).isEqualTo(3);
        assertThat(sample.perTurn()).containsExactly(Map.entry("scripts", 2.0));
    }

    @Test
    void aLongWaitCountsForAllWhoWouldHaveComeMeanwhile() {
        Histogram waits = Tally.histogram();
        waits.recordValueWithCount(1_000_000, 99);
        waits.recordValue(SECOND);
        // one thread, 100 turns in 2 s: its fair share is a turn each 20 ms, and 50 of those fell into the long wait
        Tally tally = new Tally(List.of(100L), 100, 100, 0, waits, Tally.histogram(), Tally.histogram(), 0, 0);
        Sample sample = Sample.of(tally, 2 * SECOND, 100, 0, Map.of());
        assertThat(waits.getValueAtPercentile(99)).isLessThan(SECOND / 100);
        assertThat(sample.waits().getTotalCount()).isEqualTo(149);
        assertThat(sample.waits().getValueAtPercentile(99)).isGreaterThan(SECOND * 9 / 10);
        assertThat(sample.longest()).isCloseTo(SECOND, within(SECOND / 100));
    }

    @Test
    void ratiosAreTakenRoundByRoundAndTheirSpreadIsShown() {
        Ratio ratio = Ratio.of(cell(200, 330, 900), cell(100, 110, 225)).orElseThrow();
        assertThat(ratio.median()).isEqualTo(3);
        assertThat(ratio.lowest()).isEqualTo(2);
        assertThat(ratio.highest()).isEqualTo(4);
        assertThat(ratio).hasToString("3.00 (2.00–4.00)");
        assertThat(Ratio.of(cell(1), cell(0))).isEmpty();
    }

    @Test
    void whatAWorkerSaysIsUnderstood() {
        Histogram waits = Tally.histogram();
        waits.recordValue(123_456);
        Tally said = new Tally(List.of(1L, 2L), 3, 4, 5, waits, Tally.histogram(), Tally.histogram(), 6, 7);
        assertThat(Tally.parse(said.toLine())).isEqualTo(said);
        Orders orders =
                new Orders("raw", StoreKind.REDIS, "redis://127.0.0.1:1", 1, 2, 3, Load.Locks.ONE, 4, 5, "/a file");
        assertThat(Orders.parse(orders.toLine())).isEqualTo(orders);
    }

    private static Cell cell(double... perSecond) {
        List<Sample> samples = java.util.Arrays.stream(perSecond)
                .mapToObj(turns -> new Sample(
                        turns, 1, Tally.histogram(), 0, Tally.histogram(), Tally.histogram(), 0, 0, 0, 0, Map.of()))
                .toList();
        return new Cell(
                StoreKind.REDIS,
                Workload.upTo(Workload.Tier.QUICK).get(0),
                Peers.of(Peers.FLOOR, StoreKind.REDIS),
                samples,
                Optional.empty());
    }
}
