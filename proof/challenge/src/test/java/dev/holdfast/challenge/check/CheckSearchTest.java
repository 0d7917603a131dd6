package dev.holdfast.challenge.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import java.util.List;
import java.util.Random;
import java.util.function.BiPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The checks of the resources, which look once at each turn, beside one that tries all pairs of turns. */
class CheckSearchTest {
    private static final int HISTORIES = 20_000;
    private static final int MOST_TURNS = 5;
    private static final int VALUES = 8;
    private static final List<Ending> ENDINGS = List.of(Ending.values());
    private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

    private final Random random = new Random(1);

    @Test
    void aLostUpdateIsFoundExactlyWhereTwoWritesFollowOnOneRead() {
        assertFound(
                Duplicates.lostUpdates(),
                (one, other) -> one.outcome() == Outcome.ACCEPTED
                        && other.outcome() == Outcome.ACCEPTED
                        && one.read() == other.read());
    }

    @Test
    void aStaleWriteIsFoundExactlyWhereTwoAcceptedWritesShareATokenOrARead() {
        assertFound(
                Duplicates.fencedReads(),
                (one, other) -> one.outcome() == Outcome.ACCEPTED
                        && other.outcome() == Outcome.ACCEPTED
                        && one.read() == other.read());
        assertFound(
                Duplicates.fencedTokens(),
                (one, other) -> one.outcome() == Outcome.ACCEPTED
                        && other.outcome() == Outcome.ACCEPTED
                        && one.token() == other.token());
    }

    @Test
    void aSecondRunIsFoundExactlyWhereTwoRunsOfAPeriodWereFinishedOrRecordedAfterALoss() {
        assertFound(Duplicates.runs(), (one, other) -> isDone(one) && isDone(other) && one.scope() == other.scope());
    }

    private static boolean isDone(Turn turn) {
        return turn.ending() == Ending.CLOSED || turn.outcome() == Outcome.ACCEPTED;
    }

    private void assertFound(Check check, BiPredicate<Turn, Turn> isBroken) {
        int broken = 0;
        for (int i = 0; i < HISTORIES; i++) {
            List<Turn> turns = IntStream.range(0, random.nextInt(MOST_TURNS))
                    .mapToObj(this::turn)
                    .toList();
            boolean expected = turns.stream()
                    .anyMatch(one -> turns.stream()
                            .anyMatch(other -> one.worker() != other.worker() && isBroken.test(one, other)));
            LaneHistory history =
                    new LaneHistory(new Cell("", "", "", ""), 0, turns, List.of(), List.of(), List.of(), List.of());
            assertThat(!check.violations(history).isEmpty()).as("%s", turns).isEqualTo(expected);
            broken += expected ? 1 : 0;
        }
        assertThat(broken).isBetween(HISTORIES / 50, HISTORIES / 2);
    }

    /** Its number makes it different from the others. */
    private Turn turn(int number) {
        return new Turn(
                number,
                1,
                2,
                2,
                3,
                4,
                ENDINGS.get(random.nextInt(ENDINGS.size())),
                Mode.EXCLUSIVE,
                value(),
                value(),
                value(),
                value(),
                OUTCOMES.get(random.nextInt(OUTCOMES.size())),
                0);
    }

    private long value() {
        return 1L + random.nextInt(VALUES);
    }
}
