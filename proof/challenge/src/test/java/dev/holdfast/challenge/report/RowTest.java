package dev.holdfast.challenge.report;

import static dev.holdfast.challenge.report.Histories.hold;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.lock.Locks;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A lock of another library, one of whose holders was stopped from 100 to 200; all have the lock again at 300. */
class RowTest {
    private static final Cell CELL = new Cell("redis", "redisson-fenced", "fenced", "pause-holder");

    @Test
    void anOverlapThatIsNotPromisedAwayIsExcusedOnlyWhileTheFaultGoesOn() {
        assertThat(of(hold(1, 90, 220, 5), hold(2, 140, 160, 6)).verdict()).isEqualTo(Verdict.NOT_PROMISED);
        assertThat(of(hold(1, 490, 620, 5), hold(2, 540, 560, 6)).verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(of(hold(2, 90, 220, 5), hold(3, 140, 160, 6)).verdict()).isEqualTo(Verdict.BROKEN);
    }

    @Test
    void aTokenThatComesTwiceIsNeverExcused() {
        assertThat(of(hold(1, 90, 110, 5), hold(2, 140, 160, 5)).verdict()).isEqualTo(Verdict.BROKEN);
    }

    @Test
    void whatIsKeptOfALockThatBrokeIsTheHistoryThatShowsIt() {
        Row row = new Row(CELL, Locks.of(CELL.lock(), CELL.store()));
        row.add(Histories.of(CELL, hold(1, 90, 220, 5), hold(2, 140, 160, 6)));
        LaneHistory broken = Histories.of(CELL, hold(1, 90, 110, 7), hold(2, 140, 160, 7));
        row.add(broken);
        assertThat(row.history()).contains(broken);
        assertThat(row.shown()).allMatch(violation -> violation.check().equals("tokens"));
    }

    @Test
    void locksThatOneEventBitesAreNoTrialsOfTheirOwn() {
        Row row = new Row(CELL, Locks.of(CELL.lock(), CELL.store()));
        IntStream.range(0, 10).forEach(lock -> row.add(Histories.of(CELL)));
        assertThat(row.bitten()).isEqualTo(10);
        assertThat(row.events()).isEqualTo(1);
        assertThat(row.sentence())
                .isEqualTo("HELD (1 event, 10 bites, 0 violations; 95 %: fails in less than 100.0 %" + " of events)");
    }

    @Test
    void aJobThatWaitsIsExcusedByAServerClockThatWasSetBackAndByNothingElse() {
        assertThat(waitedInVain("period", "store-clock").verdict()).isEqualTo(Verdict.NOT_PROMISED);
        assertThat(waitedInVain("period", "client-clock").verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(waitedInVain("plain", "store-clock").verdict()).isEqualTo(Verdict.BROKEN);
    }

    private static Row waitedInVain(String workload, String fault) {
        Cell cell = new Cell("postgresql", "holdfast", workload, fault);
        Row row = new Row(cell, Locks.of(cell.lock(), cell.store()));
        row.add(Histories.inVain(cell));
        return row;
    }

    private static Row of(Turn... turns) {
        Row row = new Row(CELL, Locks.of(CELL.lock(), CELL.store()));
        row.add(Histories.of(CELL, turns));
        return row;
    }
}
