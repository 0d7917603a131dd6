package dev.holdfast.bench.run;

import java.time.Duration;
import org.HdrHistogram.Histogram;

/** How many samples a quantile needs before it says anything. */
public final class Quantiles {
    /** So many samples lie beyond a quantile that is shown: with fewer, one bad moment is the whole figure. */
    public static final int BEYOND = 10;

    /** A little longer than needed on average, since random schedules have fewer turns at times. */
    private static final double RESERVE = 1.2;

    private static final double NANOS_PER_SECOND = 1e9;

    private Quantiles() {}

    /** The value of a percentile; {@link Double#NaN} when there are too few samples. */
    public static double of(Histogram histogram, double percentile) {
        return of(histogram, histogram.getTotalCount(), percentile);
    }

    /** The same of values that were filled up from so many samples. */
    static double of(Histogram filled, long samples, double percentile) {
        return samples >= samplesFor(percentile) ? filled.getValueAtPercentile(percentile) : Double.NaN;
    }

    /** How many samples a percentile needs. */
    static long samplesFor(double percentile) {
        double beyond = 1 - percentile / 100;
        return Math.round(BEYOND / Math.min(beyond, 1 - beyond));
    }

    /** How long a round has to be for a percentile. */
    static Duration roundFor(double percentile, double perSecond) {
        return Duration.ofNanos((long) (RESERVE * samplesFor(percentile) / perSecond * NANOS_PER_SECOND));
    }
}
