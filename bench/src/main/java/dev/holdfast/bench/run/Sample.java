package dev.holdfast.bench.run;

import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * What one round of one peer came to.
 *
 * @param perSecond turns per second
 * @param jain Jain's index over the turns of all threads: 1 when all had as many, 1/n when one had all
 * @param waits what a caller who comes at any moment waits, in nanoseconds; see {@link #of}
 * @param longest the longest wait, in nanoseconds
 * @param writers what those waited who write among readers, in nanoseconds
 * @param handOvers from a release to the next holder in another process, in nanoseconds
 * @param lost updates of the unprotected counter that were lost
 * @param overlaps holders that saw another
 * @param clientMicros processor time of the workers per turn, in microseconds
 * @param serverMicros processor time of the server per turn, in microseconds
 * @param perTurn what the server counted, per turn
 */
public record Sample(
        double perSecond,
        double jain,
        Histogram waits,
        long longest,
        Histogram writers,
        Histogram handOvers,
        long lost,
        long overlaps,
        double clientMicros,
        double serverMicros,
        Map<String, Double> perTurn) {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MICRO = 1e3;

    /**
     * Makes it from what was counted.
     *
     * <p>A thread that waits does not ask again meanwhile, so that plain samples would count one long wait once where an
     * unlucky caller at any moment of it would have waited too (coordinated omission). The histogram is therefore filled
     * up, in HdrHistogram's way, as if each thread had gone on asking at the pace of a fair share of the turns.
     *
     * @param nanos how long the round was
     * @param counted by how much the unprotected counter rose
     * @param serverNanos the processor time of the server
     * @param counters what the server counted
     */
    static Sample of(Tally tally, long nanos, long counted, long serverNanos, Map<String, Double> counters) {
        long turns = Math.max(1, tally.sum());
        double all = Math.max(1, tally.all());
        long fairShare = Math.max(1, nanos * tally.turns().size() / turns);
        Map<String, Double> perTurn = new TreeMap<>();
        counters.forEach((name, count) -> perTurn.put(name, count / all));
        return new Sample(
                tally.sum() * NANOS_PER_SECOND / nanos,
                Statistics.jain(tally.turns()),
                tally.waits().copyCorrectedForCoordinatedOmission(fairShare),
                tally.waits().getMaxValue(),
                tally.writers(),
                tally.handOvers(),
                tally.updates() - counted,
                tally.overlaps(),
                tally.cpuNanos() / NANOS_PER_MICRO / all,
                serverNanos / NANOS_PER_MICRO / all,
                perTurn);
    }
}
