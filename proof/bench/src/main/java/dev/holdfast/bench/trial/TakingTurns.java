package dev.holdfast.bench.trial;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Short rounds of several contenders, one after the other and again, so that what else the machine does meets all alike. */
final class TakingTurns {
    /** After these the compilers are done with what runs. */
    private static final int WARM_UP = 3;

    /** One round of one contender. */
    interface Round<C, F> {
        /** Its figures. */
        List<F> of(C contender) throws Exception;
    }

    private TakingTurns() {}

    /** The figures of each contender in all rounds behind those that warm up. */
    static <C, F> Map<C, List<F>> figures(List<C> contenders, int rounds, Round<C, F> round) throws Exception {
        Map<C, List<F>> figures = new LinkedHashMap<>();
        for (int i = 0; i < WARM_UP + rounds; i++) {
            for (C contender : contenders) {
                List<F> measured = round.of(contender);
                if (i >= WARM_UP) {
                    figures.computeIfAbsent(contender, first -> new ArrayList<>())
                            .addAll(measured);
                }
            }
        }
        return figures;
    }

    /** The median of some figures; there must be one. */
    static double median(List<? extends Number> figures) {
        return quantile(figures, 0.5);
    }

    /** A quantile of some figures; there must be one. */
    static double quantile(List<? extends Number> figures, double quantile) {
        double[] sorted =
                figures.stream().mapToDouble(Number::doubleValue).sorted().toArray();
        return sorted[Math.max(0, (int) Math.ceil(quantile * sorted.length) - 1)];
    }
}
