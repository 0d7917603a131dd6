package dev.holdfast.challenge.report;

import dev.holdfast.challenge.history.LaneHistory;
import dev.holdfast.challenge.history.LaneHistory.Bite;
import dev.holdfast.challenge.history.LaneHistory.Cell;
import dev.holdfast.challenge.history.LaneHistory.Probe;
import dev.holdfast.challenge.history.Turn;
import dev.holdfast.challenge.history.Turn.Outcome;
import dev.holdfast.spi.Mode;
import dev.holdfast.tck.History.Ending;
import java.util.List;

/** Histories of a lock whose worker 1 was stopped from 100 to 200. */
final class Histories {
    private Histories() {}

    static LaneHistory of(Cell cell, Turn... turns) {
        return new LaneHistory(
                cell,
                0,
                List.of(turns),
                List.of(new Bite(1, 100, 200, true)),
                List.of(new Probe(210, 300, 1000)),
                List.of(),
                List.of());
    }

    /** Nobody had it from the time on when something was done to its store. */
    static LaneHistory inVain(Cell cell) {
        return new LaneHistory(
                cell,
                0,
                List.of(),
                List.of(new Bite(Bite.ALL, 100, 200, true)),
                List.of(new Probe(210, 0, 1000)),
                List.of(),
                List.of());
    }

    /** A turn that writes nothing. */
    static Turn hold(int worker, long asked, long left, long token) {
        return hold(worker, asked, left, token, 0, 0, Outcome.NONE);
    }

    /** A turn that writes what all others write, too. */
    static Turn write(int worker, long asked, long left, long token) {
        return hold(worker, asked, left, token, 3, 4, Outcome.ACCEPTED);
    }

    private static Turn hold(int worker, long asked, long left, long token, long read, long wrote, Outcome outcome) {
        return new Turn(
                worker,
                asked,
                asked + 1,
                asked + 1,
                left - 1,
                left,
                Ending.CLOSED,
                Mode.EXCLUSIVE,
                token,
                0,
                read,
                wrote,
                outcome,
                0);
    }
}
