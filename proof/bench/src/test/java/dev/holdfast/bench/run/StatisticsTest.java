package dev.holdfast.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import java.time.Duration;
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
        Tally tally = new Tally(List.of(4L, 6L), Map.of(), Map.of())
                .with(Count.ALL, 11)
                .with(Count.UPDATES, 11)
                .with(Count.REFUSED, 1)
                .with(Count.UNSERVED, 11)
                .with(Count.CPU_NANOS, 22_000)
                .with(Count.COMPILING_MILLIS, 400);
        Sample sample = Sample.of(tally, Load.one(2, 1), 2 * SECOND, 9, 33_000, Map.of("scripts", 22.0));
        assertThat(sample.perSecond()).isEqualTo(5);
        assertThat(sample.lost()).as("11 updates, of which the counter shows 9").isEqualTo(2);
        assertThat(sample.clientMicros()).isEqualTo(2);
        assertThat(sample.serverMicros()).isEqualTo(3);
        assertThat(sample.refused()).isCloseTo(1.0 / 11, within(1e-9));
        assertThat(sample.unserved()).isEqualTo(0.5);
        assertThat(sample.compiling()).as("0.4 s of two workers in 2 s").isEqualTo(0.1);
        assertThat(sample.perTurn()).containsExactly(Map.entry("scripts", 2.0));
    }

    @Test
    void aLongWaitCountsForAllWhoWouldHaveComeMeanwhile() {
        Histogram waits = Tally.histogram();
        waits.recordValueWithCount(1_000_000, 99);
        waits.recordValue(SECOND);
        // one thread, 100 turns in 2 s: its fair share is a turn each 20 ms, and 50 of those fell into the long wait
        Tally tally = new Tally(List.of(100L), Map.of(Count.ALL, 100L), Map.of(Timing.WAIT, waits));
        Sample sample = Sample.of(tally, Load.own(1), 2 * SECOND, 100, 0, Map.of());
        assertThat(waits.getValueAtPercentile(99)).isLessThan(SECOND / 100);
        assertThat(sample.waits().getTotalCount()).isEqualTo(149);
        assertThat(sample.waits().getValueAtPercentile(99)).isGreaterThan(SECOND * 9 / 10);
        assertThat(sample.waits().getMaxValue()).isCloseTo(SECOND, within(SECOND / 100));
    }

    @Test
    void waitsFromIntendedStartsAreNotFilledUpAgain() {
        Histogram waits = Tally.histogram();
        waits.recordValue(SECOND);
        Tally tally = new Tally(List.of(1L), Map.of(Count.ALL, 1L), Map.of(Timing.WAIT, waits));
        Load paced = Load.own(1).at(Pace.millis(0, 20));
        assertThat(Sample.of(tally, paced, SECOND, 0, 0, Map.of()).waits().getTotalCount())
                .isEqualTo(1);
    }

    @Test
    void ratiosAreTakenRoundByRoundAndTheirSpreadIsShown() {
        Ratio ratio =
                Ratio.of(cell(200, 330, 900), cell(100, 110, 225), Figure.TURNS).orElseThrow();
        assertThat(ratio.median()).isEqualTo(3);
        assertThat(ratio.lowest()).isEqualTo(2);
        assertThat(ratio.highest()).isEqualTo(4);
        assertThat(ratio).hasToString("3.00 (2.00–4.00)");
        assertThat(Ratio.of(cell(1), cell(0), Figure.TURNS)).isEmpty();
    }

    @Test
    void aSpreadThatCrossesItsTargetIsUndecided() {
        Ratio ratio = Ratio.spread(List.of(2.0, 3.0, 4.0)).orElseThrow();
        assertThat(ratio.atLeast(2)).isEqualTo(Verdict.MET);
        assertThat(ratio.atLeast(2.5)).isEqualTo(Verdict.UNDECIDED);
        assertThat(ratio.atLeast(4.1)).isEqualTo(Verdict.MISSED);
        assertThat(ratio.atMost(4)).isEqualTo(Verdict.MET);
        assertThat(ratio.atMost(2.5)).isEqualTo(Verdict.UNDECIDED);
        assertThat(ratio.atMost(1.9)).isEqualTo(Verdict.MISSED);
    }

    @Test
    void oneRoundHasNoSpreadAndDecidesNothing() {
        Ratio alone = Ratio.spread(List.of(9.0)).orElseThrow();
        assertThat(alone.atLeast(1)).isEqualTo(Verdict.UNDECIDED);
        assertThat(alone.atMost(1)).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void aQuantileNeedsTenSamplesBeyondIt() {
        Histogram waits = Tally.histogram();
        waits.recordValueWithCount(1_000, 999);
        assertThat(Quantiles.of(waits, 50)).isCloseTo(1_000, within(10.0));
        assertThat(Quantiles.of(waits, 99)).isNaN();
        waits.recordValue(1_000);
        assertThat(Quantiles.of(waits, 99)).isCloseTo(1_000, within(10.0));
        assertThat(Quantiles.of(waits, 99.9)).isNaN();
        assertThat(Quantiles.roundFor(99, 100)).isEqualTo(Duration.ofSeconds(12));
    }

    @Test
    void valuesThatWereFilledUpCountForNoQuantile() {
        Histogram filled = Tally.histogram();
        filled.recordValueWithCount(1_000, 100_000);
        assertThat(Quantiles.of(filled, 20, 50)).isCloseTo(1_000, within(10.0));
        assertThat(Quantiles.of(filled, 20, 99)).isNaN();
    }

    @Test
    void aRoundThatIsTooShortForAQuantileIsNotCompared() {
        assertThat(Ratio.of(cell(1), cell(1), Figure.WAIT_P99)).isEmpty();
        assertThat(Figure.WAIT_P99.of(cell(1))).isNaN();
    }

    @Test
    void aJvmIsWarmWhenItHasRunAndItsCompilersAreDone() {
        WarmUp goal = new WarmUp(Duration.ofSeconds(1), Duration.ofSeconds(6), 1_000, 0.05, Duration.ofSeconds(20));
        assertThat(goal.isDone(Duration.ofSeconds(5), 5_000, 0)).isFalse();
        assertThat(goal.isDone(Duration.ofSeconds(6), 999, 0)).isFalse();
        assertThat(goal.isDone(Duration.ofSeconds(6), 1_000, 0.3)).isFalse();
        assertThat(goal.isDone(Duration.ofSeconds(6), 1_000, 0.05)).isTrue();
        assertThat(goal.isDone(Duration.ofSeconds(20), 3, 1)).as("given up").isTrue();
    }

    @Test
    void aDiskThatIsTooFastToKeepAnythingIsNamed() {
        assertThat(Disk.describe(1_200_000))
                .isEqualTo("a forced write of 4 KiB takes 1.200 ms (median): commits are flushed");
        assertThat(Disk.describe(20_000)).contains("0.020 ms", "this disk does not flush");
    }

    @Test
    void whatAWorkerSaysIsUnderstood() {
        Meter meter = new Meter();
        meter.turn();
        meter.time(Timing.WAIT, 123_456);
        meter.time(Timing.HAND_OVER, 12);
        meter.count(Count.REFUSED);
        Tally said = meter.tally().with(Count.WRITTEN, 7);
        assertThat(Tally.parse(said.toLine())).isEqualTo(said);
        Load load = Load.one(2, 3).clients(4).holding(Duration.ofNanos(5)).at(Pace.millis(6, 7));
        Orders orders = new Orders("raw", StoreKind.REDIS, "redis://127.0.0.1:1", 1, load, 5, "/a file");
        assertThat(Orders.parse(orders.toLine())).isEqualTo(orders);
    }

    private static Cell cell(double... perSecond) {
        List<Sample> samples = java.util.Arrays.stream(perSecond)
                .mapToObj(turns -> new Sample(turns, 1, Map.of(), 0, 0, 0, 0, 0, 0, 0, Map.of()))
                .toList();
        return new Cell(
                StoreKind.REDIS,
                Workload.upTo(Workload.Tier.QUICK).get(0),
                Peers.of(Peers.FLOOR, StoreKind.REDIS),
                samples,
                Optional.empty());
    }
}
