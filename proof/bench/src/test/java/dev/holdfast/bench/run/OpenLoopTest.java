package dev.holdfast.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.bench.peer.Peer;
import dev.holdfast.bench.peer.StoreKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That a slow lock cannot hide behind the turns that were never asked for. */
class OpenLoopTest {
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int STALL_MILLIS = 300;

    @TempDir
    private Path folder;

    @Test
    void intendedStartsAreAHoldAndAPauseApartHoweverLongATurnTakes() {
        Schedule schedule = new Schedule(0, Pace.millis(1, 3), 2 * MILLI, new SplittableRandom(1));
        long before = schedule.next();
        assertThat(before).isBetween(0L, 4 * MILLI);
        long first = before;
        for (int i = 0; i < 1_000; i++) {
            long next = schedule.next();
            assertThat(next - before).isBetween(3 * MILLI, 5 * MILLI);
            before = next;
        }
        assertThat((before - first) / 1e9).isCloseTo(4.0, within(0.2));
    }

    @Test
    void withoutAPaceATurnBeginsWhenTheOneBeforeHasEnded() {
        Schedule schedule = new Schedule(0, Pace.NONE, MILLI, new SplittableRandom(1));
        long now = System.nanoTime();
        assertThat(schedule.next() - now).isNotNegative();
    }

    @Test
    void allTurnsThatWereDueWhileALockStalledCountAsWaiting() throws Exception {
        Load load = Load.own(1).at(Pace.millis(0, 4));
        Tally tally = run(load, Duration.ofSeconds(1));
        Histogram waits = tally.timing(Timing.WAIT);
        long late = waits.getTotalCount() - waits.getCountBetweenValues(0, STALL_MILLIS * MILLI / 3);
        // two thirds of the stall, a turn each 2 ms on average
        assertThat(late).as("waits of more than a third of the stall").isGreaterThan(50);
        assertThat(waits.getTotalCount()).isEqualTo(tally.count(Count.ALL) + tally.count(Count.UNSERVED));
        Histogram calls = tally.timing(Timing.CALL);
        assertThat(calls.getTotalCount() - calls.getCountBetweenValues(0, STALL_MILLIS * MILLI / 3))
                .as("a closed loop would have seen one of them")
                .isLessThan(10);
    }

    @Test
    void turnsThatWereDueAndNeverBegunAreCounted() throws Exception {
        Tally tally = run(Load.own(1).at(Pace.millis(0, 4)), Duration.ofMillis(STALL_MILLIS));
        assertThat(tally.count(Count.UNSERVED)).isPositive();
        assertThat(tally.sum()).isLessThan(tally.count(Count.ALL) + tally.count(Count.UNSERVED));
    }

    @Test
    void halfOfTheTurnsOfAServiceTakeOneOfTwentyNamesAndNearlyAllOthersOccur() {
        Names names = Names.ofAService(new SplittableRandom(7));
        Map<Integer, Integer> taken = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            taken.merge(names.next(), 1, Integer::sum);
        }
        int popular = taken.entrySet().stream()
                .filter(entry -> entry.getKey() < Names.POPULAR)
                .mapToInt(Map.Entry::getValue)
                .sum();
        // half, and a tenth of the other half
        assertThat(popular / 20_000.0).isCloseTo(0.55, within(0.03));
        assertThat(taken).hasSize(Names.OF_A_SERVICE);
    }

    @Test
    void ofManyNamesFewAreTakenOften() {
        Names names = Names.zipf(new SplittableRandom(7));
        Map<Integer, Integer> taken = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            taken.merge(names.next(), 1, Integer::sum);
        }
        assertThat(taken.keySet()).allMatch(name -> name >= 0 && name < Names.MANY);
        assertThat((double) taken.getOrDefault(0, 0) / taken.getOrDefault(9, 1)).isBetween(7.0, 13.0);
        assertThat(taken.size()).isGreaterThan(10_000);
    }

    /** One thread on a lock that stalls once, with its second turn. */
    private Tally run(Load load, Duration length) throws Exception {
        Orders orders = new Orders("stalls", StoreKind.MEMORY, "mem:", 0, load, length.toNanos(), "");
        Contender contender = new Contender(orders, new SharedPage(folder.resolve("page")), new Stalls(), 0, 0);
        contender.open();
        long now = System.nanoTime();
        contender.run(now, now + length.toNanos());
        return contender.tally();
    }

    /** A free lock, but for one stall. */
    private static final class Stalls implements Peer {
        private int turns;

        @Override
        public PeerLock open(String name, Mode mode) {
            return new PeerLock() {
                @Override
                public void acquire() {
                    if (++turns == 2) {
                        Schedule.sleepUntil(System.nanoTime() + STALL_MILLIS * MILLI);
                    }
                }

                @Override
                public void release() {}
            };
        }

        @Override
        public void close() {}
    }
}
