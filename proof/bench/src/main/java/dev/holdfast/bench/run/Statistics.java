package dev.holdfast.bench.run;

import java.util.List;

/** The few statistics that the report needs. */
public final class Statistics {
    private Statistics() {}

    /** Jain's fairness index: (Σx)² / (n·Σx²); 1 when nobody had anything. */
    public static double jain(List<Long> shares) {
        double sum = 0;
        double squares = 0;
        for (long share : shares) {
            sum += share;
            squares += (double) share * share;
        }
        return squares == 0 ? 1 : sum * sum / (shares.size() * squares);
    }

    /** The median of those values that are numbers; {@link Double#NaN} when none is. */
    static double medianOrNaN(List<Double> values) {
        List<Double> numbers = values.stream().filter(value -> !value.isNaN()).toList();
        return numbers.isEmpty() ? Double.NaN : median(numbers);
    }

    /** The middle value, or the mean of the two in the middle. */
    public static double median(List<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no values");
        }
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
