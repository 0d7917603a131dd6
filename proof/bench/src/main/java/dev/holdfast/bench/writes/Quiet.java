package dev.holdfast.bench.writes;

import dev.holdfast.bench.run.Schedule;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

/** Counters of servers that work on after their answer: they are read until they stand still. */
final class Quiet {
    private static final Duration STILL = Duration.ofMillis(100);
    private static final int MOST = 300;

    private Quiet() {}

    static Map<String, Double> after(Supplier<Map<String, Double>> counters) {
        Map<String, Double> before = counters.get();
        for (int i = 0; i < MOST; i++) {
            Schedule.pause(STILL);
            Map<String, Double> now = counters.get();
            if (now.equals(before)) {
                return now;
            }
            before = now;
        }
        throw new IllegalStateException("the counters do not stand still: " + before);
    }
}
