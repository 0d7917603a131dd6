package dev.holdfast.challenge.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.LaneHistory.Probe;
import dev.holdfast.challenge.history.LaneHistory.Stall;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** One bite, made to worker 1 from 100 to 200; all have the lock again at 300. */
class KeptTest {
    private static final long LIMIT = 1000;
    private static final long STALLED = Duration.ofSeconds(1).toNanos();

    @Test
    void aHoldThatIsCalledLostAlthoughNothingWasDoneIsFound() {
        assertThat(judged(1, lost(2, 10, 20, 0))).singleElement().asString().contains("a hold was lost");
        assertThat(judged(1, lost(1, 301, 400, 0))).hasSize(1);
        assertThat(judged(1, lost(1, 10, 99, 0))).hasSize(1);
    }

    @Test
    void whatTheFaultDidToItsVictimIsNoViolationUntilAllHaveTheLockAgain() {
        assertThat(judged(1, lost(1, 90, 150, 0))).isEmpty();
        assertThat(judged(1, lost(1, 299, 400, 0))).isEmpty();
        assertThat(judged(1, lost(2, 90, 150, 0))).hasSize(1);
        assertThat(judged(Bite.ALL, lost(2, 90, 150, 0))).isEmpty();
        assertThat(judged(Bite.NOBODY, lost(1, 90, 150, 0))).hasSize(1);
    }

    @Test
    void aCallThatFailsIsFoundAndOneThatIsGivenUpIsNot() {
        Turn failed = turn(2, 10, 0, 20, Ending.UNKNOWN, 0);
        assertThat(judged(1, failed)).singleElement().asString().contains("a call for the lock failed");
        assertThat(judged(1, turn(2, 10, 0, 20, Ending.CLOSED, 0))).isEmpty();
        assertThat(judged(1, turn(2, 10, 11, 20, Ending.UNKNOWN, 0)))
                .singleElement()
                .asString()
                .contains("the release of a hold failed");
        assertThat(judged(1, turn(2, 10, 11, 0, Ending.UNKNOWN, 0))).isEmpty();
    }

    @Test
    void aHoldThatItsHolderFindsInvalidWhenItWritesIsFoundUnlessItMayBeInDoubt() {
        assertThat(judged(1, notWriting(2, 20, 30))).singleElement().asString().contains("a hold was lost");
        assertThat(judged(Bite.ALL, notWriting(2, 90, 150))).isEmpty();
    }

    @Test
    void aProcessThatStoodStillMayLoseItsHold() {
        assertThat(judged(1, lost(2, 10, 20, STALLED))).isEmpty();
        assertThat(judged(1, lost(2, 900, 1001, 0))).isEmpty();
        assertThat(judged(1, lost(2, 900, 999, 0))).hasSize(1);
    }

    @Test
    void aCallOfAWorkerThatNeverHeldYetIsNotJudged() {
        assertThat(judged(1, turn(3, 10, 0, 20, Ending.UNKNOWN, 0))).isEmpty();
    }

    /** Workers 1 and 2 have held before. */
    private static List<Check.Violation> judged(int victim, Turn turn) {
        LaneHistory history = new LaneHistory(
                new Cell("", "", "", ""),
                0,
                List.of(turn(1, 1, 2, 4, Ending.CLOSED, 0), turn(2, 5, 6, 8, Ending.CLOSED, 0), turn),
                List.of(new Bite(victim, 100, 200, true)),
                List.of(new Probe(1, 9, LIMIT), new Probe(210, 300, LIMIT)),
                List.of(),
                List.of(new Stall(1000, 1400)));
        return Stream.of(Kept.holds(), Kept.calls())
                .flatMap(check -> check.violations(history).stream())
                .toList();
    }

    private static Turn lost(int worker, long asked, long left, long stall) {
        return turn(worker, asked, asked + 1, left, Ending.LOST, stall);
    }

    private static Turn notWriting(int worker, long asked, long left) {
        return turn(worker, asked, asked + 1, left, Ending.CLOSED, 0, Outcome.REFUSED);
    }

    private static Turn turn(int worker, long asked, long began, long left, Ending ending, long stall) {
        return turn(worker, asked, began, left, ending, stall, Outcome.NONE);
    }

    private static Turn turn(
            int worker, long asked, long began, long left, Ending ending, long stall, Outcome outcome) {
        long leaving = left == 0 || began == 0 ? 0 : left - 1;
        return new Turn(worker, asked, began, began, leaving, left, ending, Mode.EXCLUSIVE, 1, 0, 0, 0, outcome, stall);
    }
}
