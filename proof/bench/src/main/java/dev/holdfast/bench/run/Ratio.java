package dev.holdfast.bench.run;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * How one peer compares to another, round by round: what changed on the machine between rounds changed for both.
 *
 * @param median the middle of the ratios of the rounds
 * @param lowest the lowest of them
 * @param highest the highest of them
 * @param rounds how many there are
 */
public record Ratio(double median, double lowest, double highest, int rounds) {
    /** A figure of one over that of the other, where both have rounds to compare that are long enough for it. */
    public static Optional<Ratio> of(Cell one, Cell other, Figure figure) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(one.samples().size(), other.samples().size()); i++) {
            double ours = figure.of(one.samples().get(i));
            double theirs = figure.of(other.samples().get(i));
            if (!Double.isNaN(ours) && theirs > 0) {
                ratios.add(ours / theirs);
            }
        }
        return spread(ratios);
    }

    /** The spread of such values; empty when there are none. */
    public static Optional<Ratio> spread(List<Double> values) {
        return values.isEmpty()
                ? Optional.empty()
                : Optional.of(new Ratio(
                        Statistics.median(values),
                        values.stream().min(Double::compare).orElseThrow(),
                        values.stream().max(Double::compare).orElseThrow(),
                        values.size()));
    }

    /** Whether it is at least that in every round. */
    public Verdict atLeast(double bound) {
        return verdict(lowest >= bound, highest >= bound);
    }

    /** Whether it is at most that in every round. */
    public Verdict atMost(double bound) {
        return verdict(highest <= bound, lowest <= bound);
    }

    private Verdict verdict(boolean always, boolean ever) {
        return rounds > 1 && always == ever ? Verdict.of(always) : Verdict.UNDECIDED;
    }

    /** As {@code 1.37 (1.20–1.44)}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s (%s–%s)", brief(median), brief(lowest), brief(highest));
    }

    /** At least two digits that say something. */
    public static String brief(double ratio) {
        if (ratio >= 100) {
            return String.format(Locale.ROOT, "%.0f", ratio);
        }
        if (ratio >= 0.095 || ratio == 0) {
            return String.format(Locale.ROOT, ratio >= 10 ? "%.1f" : "%.2f", ratio);
        }
        return BigDecimal.valueOf(ratio).round(new MathContext(2)).toPlainString();
    }
}
