package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.StoreKind;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Tells people how far a run is: a line when a workload begins, its figures when it is done. */
public final class Progress {
    private static final double NANOS_PER_MILLI = 1e6;

    private final PrintStream out;
    private final Plan plan;
    private final long began = System.nanoTime();
    private Duration left;

    /** Progress of a run whose rows take so long. */
    public Progress(PrintStream out, Plan plan, Duration expected) {
        this.out = out;
        this.plan = plan;
        this.left = expected;
    }

    /** About how long all of it takes. */
    public Duration expected() {
        return left;
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
        out.printf(
                Locale.ROOT,
                "[%d:%02d, about %d min to go] %s: %s%n",
                elapsed().toMinutes(),
                elapsed().toSecondsPart(),
                left.plusSeconds(30).toMinutes(),
                store.title(),
                workload.title());
        left = left.minus(plan.ofOneCell(workload).multipliedBy(cells));
    }

    void end(List<Cell> cells) {
        StringBuilder line = new StringBuilder("   ");
        for (Cell cell : cells) {
            line.append(' ').append(cell.peer().id()).append(' ');
            line.append(cell.isSound() ? brief(cell) : "FAILED");
            if (cell.breaches() > 0) {
                line.append(" NOT EXCLUSIVE");
            }
        }
        out.println(line);
    }

    private static String brief(Cell cell) {
        return cell.workload().figure() == Figure.TURNS
                ? "%,.0f/s".formatted(cell.median(Sample::perSecond))
                : "%.2f ms".formatted(cell.waits().getValueAtPercentile(50) / NANOS_PER_MILLI);
    }

    void failed(RoundFailed failure) {
        out.println("    FAILED: " + failure.reason());
        failure.detail().lines().forEach(line -> out.println("      | " + line));
    }
}
