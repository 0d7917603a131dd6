package dev.holdfast.bench.run;

import java.util.function.ToDoubleFunction;

/** What of a round is compared between peers. */
public enum Figure {
    /** Turns per second. */
    TURNS(true, Sample::perSecond),
    /** The median of the time from the intended start to the lock. */
    WAIT_P50(false, sample -> sample.waitAt(50)),
    /** Its 99th percentile. */
    WAIT_P99(false, sample -> sample.waitAt(99)),
    /** The median of the time from the call to the lock. */
    CALL_P50(false, sample -> Quantiles.of(sample.calls(), 50)),
    /** The 99th percentile of what those wait who write among readers. */
    WRITER_P99(false, sample -> Quantiles.of(sample.writers(), 99)),
    /** Processor time of the server per turn. */
    SERVER(false, Sample::serverMicros);

    private final boolean moreIsBetter;

    @SuppressWarnings("ImmutableEnumChecker") // a function of the sample alone
    private final ToDoubleFunction<Sample> value;

    Figure(boolean moreIsBetter, ToDoubleFunction<Sample> value) {
        this.moreIsBetter = moreIsBetter;
        this.value = value;
    }

    /** The figure of a round; {@link Double#NaN} when the round was too short for it. */
    public double of(Sample sample) {
        return value.applyAsDouble(sample);
    }

    /** Orders cells from best to worst by the median of their rounds; those without the figure come last. */
    public int compare(Cell one, Cell other) {
        double ours = of(one);
        double theirs = of(other);
        if (Double.isNaN(ours) || Double.isNaN(theirs)) {
            return Boolean.compare(Double.isNaN(ours), Double.isNaN(theirs));
        }
        return moreIsBetter ? Double.compare(theirs, ours) : Double.compare(ours, theirs);
    }

    /** The median over the rounds that have it; {@link Double#NaN} when none has. */
    public double of(Cell cell) {
        return Statistics.medianOrNaN(cell.samples().stream().map(this::of).toList());
    }
}
