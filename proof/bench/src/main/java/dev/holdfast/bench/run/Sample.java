package dev.holdfast.bench.run;

import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * What one round of one peer came to.
 *
 * @param perSecond turns per second
 * @param jain Jain's index over the turns of all threads: 1 when all had as many, 1/n when one had all
 * @param timings in nanoseconds; the waits are what a caller waits who comes at any moment, see {@link #of}
 * @param lost updates of the unprotected counter that were lost
 * @param overlaps holders that saw another
 * @param refused the share of the turns that ended without the lock
 * @param unserved the share of the turns due in the round that no thread had time for
 * @param compiling the share of a core that the compilers of each worker took
 * @param clientMicros processor time of the workers per turn, in microseconds
 * @param serverMicros processor time of the server per turn, in microseconds
 * @param perTurn what the server counted, per turn
 */
public record Sample(
        double perSecond,
        double jain,
        Map<Timing, Histogram> timings,
        long lost,
        long overlaps,
        double refused,
        double unserved,
        double compiling,
        double clientMicros,
        double serverMicros,
        Map<String, Double> perTurn) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;

    /**
     * Makes it from what was counted.
     *
     * <p>With a pace, waits count from intended starts, and nothing is left to correct. Without one, a thread that waits
     * does not ask again meanwhile, so that plain samples would count one long wait once where an unlucky caller at any
     * moment of it would have waited too (coordinated omission). That histogram is therefore filled up, in HdrHistogram's
     * way, as if each thread had gone on asking at the pace of a fair share of the turns.
     *
     * <p>A try that runs out is over when its time is; those histograms are left as they are.
     *
     * @param load what the threads did
     * @param nanos how long the round was
     * @param counted by how much the unprotected counter rose
     * @param serverNanos the processor time of the server
     * @param counters what the server counted
     */
    static Sample of(Tally tally, Load load, long nanos, long counted, long serverNanos, Map<String, Double> counters) {
        double all = Math.max(1, tally.count(Count.ALL));
        double unserved = tally.count(Count.UNSERVED);
        Map<String, Double> perTurn = new TreeMap<>();
        counters.forEach((name, count) -> perTurn.put(name, count / all));
        Map<Timing, Histogram> timings = new EnumMap<>(Timing.class);
        timings.putAll(tally.timings());
        if (!load.isPaced() && !load.isTry()) {
            long fairShare = Math.max(1, nanos * tally.turns().size() / Math.max(1, tally.sum()));
            timings.put(Timing.WAIT, tally.timing(Timing.WAIT).copyCorrectedForCoordinatedOmission(fairShare));
        }
        return new Sample(
                tally.sum() * NANOS_PER_SECOND / nanos,
                Statistics.jain(tally.turns()),
                timings,
                tally.count(Count.UPDATES) - counted,
                tally.count(Count.OVERLAPS),
                tally.count(Count.REFUSED) / all,
                unserved / (all + unserved),
                tally.count(Count.COMPILING_MILLIS) * NANOS_PER_MILLI / nanos / load.processes(),
                tally.count(Count.CPU_NANOS) / NANOS_PER_MICRO / all,
                serverNanos / NANOS_PER_MICRO / all,
                perTurn);
    }

    /** From the intended start to the lock. */
    public Histogram waits() {
        return timing(Timing.WAIT);
    }

    /** A percentile of the waits; {@link Double#NaN} when too few turns were taken for it. */
    public double waitAt(double percentile) {
        return Quantiles.of(waits(), calls().getTotalCount(), percentile);
    }

    /** From the call to the lock. */
    public Histogram calls() {
        return timing(Timing.CALL);
    }

    /** What those waited who write among readers. */
    public Histogram writers() {
        return timing(Timing.WRITER);
    }

    /** From a release to the next holder in another process. */
    public Histogram handOvers() {
        return timing(Timing.HAND_OVER);
    }

    private Histogram timing(Timing timing) {
        Histogram found = timings.get(timing);
        return found != null ? found : Tally.histogram();
    }
}
