package dev.holdfast.bench.report;

import dev.holdfast.bench.peer.Peers;
import dev.holdfast.bench.peer.StoreKind;
import dev.holdfast.bench.report.Target.Outcome;
import dev.holdfast.bench.run.Cell;
import dev.holdfast.bench.run.Figure;
import dev.holdfast.bench.run.Ratio;
import dev.holdfast.bench.run.Results;
import dev.holdfast.bench.run.Sample;
import dev.holdfast.bench.run.Verdict;
import dev.holdfast.bench.run.Workload;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * The kinds of targets that there are, for one store. Where another library is the measure, it is the
 * best there is by that figure; a library is named only where a factor was asked for beside it.
 */
record Wanted(StoreKind store) {
    private static final double NANOS_PER_MILLI = 1e6;

    /** The share of the turns due that may be left at the end of a round without a word about the pace. */
    private static final double UNSERVED = 0.02;

    /** Turns per second at least so many times those of another. */
    Target ratio(String workload, String ours, String theirs, double atLeast) {
        return atLeast(workload, ours, Beside.of(theirs), atLeast);
    }

    /** The same beside the best of the other libraries. */
    Target ratioToBest(String workload, String ours, double atLeast) {
        return atLeast(workload, ours, Beside.BEST, atLeast);
    }

    private Target atLeast(String workload, String ours, Beside beside, double bound) {
        return target(
                workload,
                ours + " beside " + beside.title(),
                "≥ " + plain(bound) + " ×",
                results -> beside.ratio(results, store, workload, ours, Figure.TURNS)
                        .map(found -> new Outcome(found.text(), found.ratio().atLeast(bound))));
    }

    /** A figure at most so many times that of another. */
    Target atMost(String workload, String ours, Figure figure, Beside beside, double bound) {
        return target(
                workload,
                ours + ", " + title(figure) + " beside " + beside.title(),
                "≤ " + plain(bound) + " ×",
                results -> outOfPace(results, workload, ours)
                        .or(() -> beside.ratio(results, store, workload, ours, figure)
                                .map(found ->
                                        new Outcome(found.text(), found.ratio().atMost(bound)))));
    }

    /**
     * The median wait for a lock at most so many times that of another. A cost that all pay alike draws a ratio towards
     * 1, and so does the moment by which a thread begins late: of the two ratios, from the intended start and from the
     * call, the one counts that is worse for us.
     */
    Target median(String workload, String ours, Beside beside, double bound) {
        return target(
                workload,
                ours + ", median wait beside " + beside.title(),
                "≤ " + plain(bound) + " ×",
                results -> outOfPace(results, workload, ours)
                        .or(() -> Stream.of(Figure.WAIT_P50, Figure.CALL_P50)
                                .flatMap(figure -> beside.ratio(results, store, workload, ours, figure).stream())
                                .max(Comparator.comparingDouble(
                                        found -> found.ratio().median()))
                                .map(found ->
                                        new Outcome(found.text(), found.ratio().atMost(bound)))));
    }

    /**
     * Where turns that were due were never begun, waits are longer than measured. That misses a target, unless the
     * store's bare commands could not keep the pace either: then the machine was too slow to say anything.
     */
    private Optional<Outcome> outOfPace(Results results, String workload, String ours) {
        return unserved(results, workload, ours)
                .filter(share -> share > UNSERVED)
                .map(share -> new Outcome(
                        String.format(Locale.ROOT, "%.0f %% of the turns not served", 100 * share),
                        unserved(results, workload, Peers.FLOOR).orElse(0.0) > UNSERVED
                                ? Verdict.UNDECIDED
                                : Verdict.MISSED));
    }

    private Optional<Double> unserved(Results results, String workload, String peer) {
        return results.cell(store, workload, peer).map(cell -> cell.median(Sample::unserved));
    }

    private static String title(Figure figure) {
        return switch (figure) {
            case TURNS -> "turns";
            case WAIT_P50, CALL_P50 -> "median wait";
            case WAIT_P99 -> "p99 wait";
            case WRITER_P99 -> "the writer's p99 wait";
            case SERVER -> "server time per turn";
        };
    }

    /** Jain's index over all threads. */
    Target jain(String workload, double atLeast) {
        return cell(
                workload,
                "Jain's index",
                "≥ " + plain(atLeast),
                cell -> spread(cell, Sample::jain)
                        .map(jain ->
                                new Outcome(String.format(Locale.ROOT, "%.4f", jain.median()), jain.atLeast(atLeast))));
    }

    /** The longest wait of anybody. */
    Target longestWait(String workload, double atMostMillis) {
        return cell(workload, "longest wait", "≤ " + plain(atMostMillis) + " ms", cell -> {
            double millis = cell.longest() / NANOS_PER_MILLI;
            return Optional.of(
                    new Outcome(String.format(Locale.ROOT, "%.1f ms", millis), Verdict.of(millis <= atMostMillis)));
        });
    }

    /** From a release to the next holder in another process. */
    Target handOver(String workload, double atMostMillis) {
        return cell(
                workload,
                "hand-over, median",
                "≤ " + plain(atMostMillis) + " ms",
                cell -> spread(cell, sample -> sample.handOvers().getValueAtPercentile(50) / NANOS_PER_MILLI)
                        .map(millis -> new Outcome(
                                String.format(Locale.ROOT, "%.2f ms", millis.median()), millis.atMost(atMostMillis))));
    }

    /** How many round trips a wait is, where each takes the time that was added. */
    Target roundTrips(String workload, String ours, double atMost) {
        // what is not the network is far from another round trip
        double slack = 0.5;
        return target(
                workload,
                ours + ", round trips of the median wait",
                "≤ " + plain(atMost),
                results -> results.cell(store, workload, ours)
                        .flatMap(cell -> spread(
                                cell,
                                sample -> (double) sample.waits().getValueAtPercentile(50)
                                        / cell.workload().load().roundTrip().toNanos()))
                        .map(trips -> new Outcome(
                                String.format(Locale.ROOT, "%.2f", trips.median()), trips.atMost(atMost + slack))));
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
                        .filter(cell -> cell.perTurn(counter).isPresent())
                        .flatMap(cell -> spread(cell, sample -> sample.perTurn().getOrDefault(counter, 0.0)))
                        .map(count -> new Outcome(
                                String.format(Locale.ROOT, "%.2f", count.median()), count.atMost(atMost * slack))));
    }

    /** A figure of its own. */
    Target figure(
            String name, String what, String wanted, double atMost, ToDoubleFunction<Double> unit, String format) {
        return new Target(
                store,
                what,
                wanted,
                results -> results.figure(name)
                        .map(unit::applyAsDouble)
                        .map(value ->
                                new Outcome(String.format(Locale.ROOT, format, value), Verdict.of(value <= atMost))));
    }

    /** None of the settings that users need now and then may be worse than what they would have otherwise. */
    List<Target> noneWorse() {
        return List.of(
                ratioToBest(Workload.ONE_2X16, Peers.NO_HAND_OVER, 1),
                ratioToBest(Workload.ONE_2X1, Peers.AWAIT_RELEASE, 1),
                ratioToBest(Workload.ONE_2X1, Peers.STRICT_FIFO, 1),
                ratioToBest(Workload.ONE_2X1, Peers.HOLDFAST, 1),
                ratioToBest(Workload.HOLD_10, Peers.HOLDFAST, 1));
    }

    /** An own lock whose turn includes the confirmed release, as it does for the peers, or passes the store's queue. */
    List<Target> ownLockNotWorse() {
        return Stream.of(Workload.OWN_1, Workload.OWN_16)
                .flatMap(workload ->
                        Stream.of(Peers.AWAIT_RELEASE, Peers.STRICT_FIFO).map(ours -> ratioToBest(workload, ours, 1)))
                .toList();
    }

    private static Optional<Ratio> spread(Cell cell, ToDoubleFunction<Sample> figure) {
        return Ratio.spread(cell.samples().stream().map(figure::applyAsDouble).toList());
    }

    private Target cell(String workload, String what, String wanted, Function<Cell, Optional<Outcome>> outcome) {
        return target(
                workload,
                what,
                wanted,
                results -> results.cell(store, workload, Peers.HOLDFAST).flatMap(outcome));
    }

    private Target target(String workload, String what, String wanted, Function<Results, Optional<Outcome>> check) {
        return new Target(store, store.title() + ", " + Workload.titleOf(workload) + ": " + what, wanted, check);
    }

    static String plain(double number) {
        return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
    }
}
