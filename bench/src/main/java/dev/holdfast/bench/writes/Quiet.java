package dev.holdfast.bench.writes;

import dev.holdfast.bench.run.Schedule;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/** Counters of servers that work on after their answer: they are read until they stand still. */
final class Quiet {
    private static final Duration STILL = Duration.ofMillis(100);

    private Quiet() {}

    static Map<String, Double> after(Supplier<Map<String, Double>> counters) {
        Map<String, Double> before;
        Map<String, Double> now = counters.get();
        do {
            before = now;
            Schedule.pause(STILL);
            now = counters.get();
        } while (!now.equals(before));
        return now;
    }
}
