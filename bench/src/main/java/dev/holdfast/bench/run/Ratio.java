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
 */
public record Ratio(double median, double lowest, double highest) {
    /** The turns per second of one over those of the other, where both have rounds to compare. */
    public static Optional<Ratio> of(Cell one, Cell other) {
        int rounds = Math.min(one.samples().size(), other.samples().size());
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            double beside = other.samples().get(i).perSecond();
            if (beside > 0) {
                ratios.add(one.samples().get(i).perSecond() / beside);
            }
        }
        if (ratios.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Ratio(
                Statistics.median(ratios),
                ratios.stream().min(Double::compare).orElseThrow(),
                ratios.stream().max(Double::compare).orElseThrow()));
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
