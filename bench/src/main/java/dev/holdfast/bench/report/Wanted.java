package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Target.Outcome;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import dev.holdfast.bench.run.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The kinds of targets that the issues have, for one issue and store. */
record Wanted(String issue, StoreKind store) {
    private static final double P99 = 99;
    private static final double NANOS_PER_MILLI = 1e6;

    /** Turns per second at least so many times those of another. */
    Target ratio(String workload, String ours, String theirs, double atLeast) {
        return target(
                workload,
                ours + " beside " + theirs,
                "≥ " + plain(atLeast) + " ×",
                results -> ratioOf(results, workload, ours, theirs)
                        .map(ratio -> new Outcome(ratio + " ×", ratio.median() >= atLeast)));
    }

    /** The same beside the best of the other libraries. */
    Target ratioToBest(String workload, String ours, double atLeast) {
        return target(
                workload,
                ours + " beside the best peer",
                "≥ " + plain(atLeast) + " ×",
                results -> results.bestPeer(store, workload)
                        .flatMap(best -> ratioOf(
                                        results, workload, ours, best.peer().id())
                                .map(ratio ->
                                        new Outcome(ratio + " × " + best.peer().id(), ratio.median() >= atLeast))));
    }

    /** The waits at the 99th percentile at most a part of another's. */
    Target waits(String workload, String theirs, double atMost) {
        return target(
                workload,
                "p99 wait beside " + theirs,
                "≤ " + plain(atMost) + " ×",
                results -> results.cell(store, workload, Peers.HOLDFAST)
                        .flatMap(ours -> results.cell(store, workload, theirs).map(other -> {
                            double share = (double) ours.waits().getValueAtPercentile(P99)
                                    / Math.max(1, other.waits().getValueAtPercentile(P99));
                            return new Outcome(Ratio.brief(share) + " ×", share <= atMost);
                        })));
    }

    /** Jain's index over all threads. */
    Target jain(String workload, double atLeast) {
        return cell(workload, "Jain's index", "≥ " + plain(atLeast), cell -> {
            double jain = cell.median(Sample::jain);
            return new Outcome(String.format(Locale.ROOT, "%.4f", jain), jain >= atLeast);
        });
    }

    /** The longest wait of anybody. */
    Target longestWait(String workload, double atMostMillis) {
        return cell(workload, "longest wait", "≤ " + plain(atMostMillis) + " ms", cell -> {
            double millis = cell.longest() / NANOS_PER_MILLI;
            return new Outcome(String.format(Locale.ROOT, "%.1f ms", millis), millis <= atMostMillis);
        });
    }

    /** From a release to the next holder in another process. */
    Target handOver(String workload, double atMostMillis) {
        return cell(workload, "hand-over, median", "≤ " + plain(atMostMillis) + " ms", cell -> {
            double millis = cell.handOvers().getValueAtPercentile(50) / NANOS_PER_MILLI;
            return new Outcome(String.format(Locale.ROOT, "%.2f ms", millis), millis <= atMostMillis);
        });
    }

    /** What one who writes among readers waits at the 99th percentile, at most a part of another's. */
    Target writersWait(String workload, String theirs, double atMost) {
        return target(
                workload,
                "the writer's p99 wait beside " + theirs,
                "≤ " + plain(atMost) + " ×",
                results -> results.cell(store, workload, Peers.HOLDFAST)
                        .flatMap(ours -> results.cell(store, workload, theirs).map(other -> {
                            double millis = ours.writers().getValueAtPercentile(P99) / NANOS_PER_MILLI;
                            double than = other.writers().getValueAtPercentile(P99) / NANOS_PER_MILLI;
                            String said = String.format(Locale.ROOT, "%.1f ms beside %.1f ms", millis, than);
                            return new Outcome(said, millis <= than * atMost);
                        })));
    }

    /** How many round trips a wait is, where each takes the time that was added. */
    Target roundTrips(String workload, String ours, double atMost) {
        // what is not the network is far from another round trip
        double slack = 0.5;
        return target(
                workload,
                ours + ", round trips of the median wait",
                "≤ " + plain(atMost),
                results -> results.cell(store, workload, ours).map(cell -> {
                    double trips = (double) cell.waits().getValueAtPercentile(50)
                            / cell.workload().load().roundTrip().toNanos();
                    return new Outcome(String.format(Locale.ROOT, "%.2f", trips), trips <= atMost + slack);
                }));
    }

    /** What the server counts for a turn: the lock goes from process to process, and the one who left queues up again. */
    Target perTurn(String workload, String counter, double atMost) {
        // a poll of the safety net now and then is no part of the turn
        double slack = 1.05;
        return target(
                workload,
                Peers.STRICT_FIFO + ", " + counter + " per turn, queueing up again included",
                "≤ " + plain(atMost),
                results -> results.cell(store, workload, Peers.STRICT_FIFO)
                        .flatMap(cell -> cell.perTurn(counter))
                        .map(count -> new Outcome(String.format(Locale.ROOT, "%.2f", count), count <= atMost * slack)));
    }

    /** A figure of its own. */
    Target figure(
            String name, String what, String wanted, double atMost, ToDoubleFunction<Double> unit, String format) {
        return new Target(
                issue,
                store,
                what,
                wanted,
                results -> results.figure(name)
                        .map(unit::applyAsDouble)
                        .map(value -> new Outcome(String.format(Locale.ROOT, format, value), value <= atMost)));
    }

    /** None of the settings that users need now and then may be worse than what they would have otherwise. */
    List<Target> noneWorse(String than) {
        return List.of(
                ratio(Workload.ONE_2X16, Peers.NO_HAND_OVER, than, 1),
                ratio(Workload.ONE_2X1, Peers.HOLDFAST, than, 1),
                ratio(Workload.HOLD_10, Peers.HOLDFAST, than, 1));
    }

    private Target cell(String workload, String what, String wanted, Function<Cell, Outcome> outcome) {
        return target(
                workload,
                what,
                wanted,
                results -> results.cell(store, workload, Peers.HOLDFAST).map(outcome));
    }

    private Target target(String workload, String what, String wanted, Function<Results, Optional<Outcome>> check) {
        return new Target(issue, store, store.title() + ", " + Workload.titleOf(workload) + ": " + what, wanted, check);
    }

    private Optional<Ratio> ratioOf(Results results, String workload, String ours, String theirs) {
        return results.ratio(store, workload, ours, theirs);
    }

    static String plain(double number) {
        return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
    }
}
