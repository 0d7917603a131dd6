package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Tells people how far a run is: a line when a workload begins, its figures when it is done. */
public final class Progress {
    private final PrintStream out;
    private final Duration ofOneCell;
    private final long began = System.nanoTime();
    private int cellsLeft;

    /** Progress of a run of so many cells. */
    public Progress(PrintStream out, Plan plan, int cells) {
        this.out = out;
        this.ofOneCell = plan.ofOneCell();
        this.cellsLeft = cells;
    }

    /** About how long all of it takes. */
    public Duration expected() {
        return ofOneCell.multipliedBy(cellsLeft);
    }

    /** Says something of its own. */
    public void say(String line) {
        out.println(line);
    }

    /** How long the run has gone on. */
    public Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    void begin(StoreKind store, Workload workload, int cells) {
        Duration left = ofOneCell.multipliedBy(cellsLeft);
        out.printf(
                Locale.ROOT,
                "[%d:%02d, about %d min to go] %s: %s%n",
                elapsed().toMinutes(),
                elapsed().toSecondsPart(),
                left.plusSeconds(30).toMinutes(),
                store.title(),
                workload.title());
        cellsLeft = Math.max(0, cellsLeft - cells);
    }

    void end(List<Cell> cells) {
        StringBuilder line = new StringBuilder("   ");
        for (Cell cell : cells) {
            line.append(' ').append(cell.peer().id()).append(' ');
            line.append(cell.isSound() ? "%,.0f/s".formatted(cell.median(Sample::perSecond)) : "FAILED");
            if (cell.breaches() > 0) {
                line.append(" NOT EXCLUSIVE");
            }
        }
        out.println(line);
    }

    void failed(RoundFailed failure) {
        out.println("    FAILED: " + failure.reason());
        failure.detail().lines().forEach(line -> out.println("      | " + line));
    }
}
