package dev.holdfast.bench.run;

import dev.holdfast.bench.peer.PeerKind;
import dev.holdfast.bench.peer.StoreKind;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * One row of one table: a peer under a workload on a store.
 *
 * @param samples one for each round that came to its end
 * @param failure what became of the one that did not
 */
public record Cell(StoreKind store, Workload workload, PeerKind peer, List<Sample> samples, Optional<String> failure) {
    /** Copies the list. */
    public Cell {
        samples = List.copyOf(samples);
    }

    /** Whether there is anything to show, and nothing to hide. */
    public boolean isSound() {
        return failure.isEmpty() && !samples.isEmpty();
    }

    /** The median of a figure over the rounds. */
    public double median(ToDoubleFunction<Sample> figure) {
        return Statistics.median(
                samples.stream().map(sample -> figure.applyAsDouble(sample)).toList());
    }

    /** The waits of all rounds. */
    public Histogram waits() {
        return sum(samples.stream().map(Sample::waits).toList());
    }

    /** A percentile of them; {@link Double#NaN} when too few turns were taken for it. */
    public double waitAt(double percentile) {
        return Quantiles.of(waits(), calls().getTotalCount(), percentile);
    }

    /** The times from the call to the lock of all rounds. */
    public Histogram calls() {
        return sum(samples.stream().map(Sample::calls).toList());
    }

    /** The waits of those who wrote among readers, in all rounds. */
    public Histogram writers() {
        return sum(samples.stream().map(Sample::writers).toList());
    }

    /** The hand-overs of all rounds. */
    public Histogram handOvers() {
        return sum(samples.stream().map(Sample::handOvers).toList());
    }

    /** The longest wait of all rounds, in nanoseconds. */
    public long longest() {
        return samples.stream()
                .mapToLong(sample -> sample.waits().getMaxValue())
                .max()
                .orElse(0);
    }

    /** Lost updates and overlaps of all rounds. */
    public long breaches() {
        return samples.stream()
                .mapToLong(sample -> sample.lost() + sample.overlaps())
                .sum();
    }

    /** The median of what the server counted under a name, per turn; nothing where it does not count that. */
    public Optional<Double> perTurn(String counter) {
        List<Double> counts = samples.stream()
                .filter(sample -> sample.perTurn().containsKey(counter))
                .map(sample -> sample.perTurn().get(counter))
                .toList();
        return counts.isEmpty() ? Optional.empty() : Optional.of(Statistics.median(counts));
    }

    private static Histogram sum(List<Histogram> histograms) {
        Histogram all = Tally.histogram();
        histograms.forEach(all::add);
        return all;
    }
}
