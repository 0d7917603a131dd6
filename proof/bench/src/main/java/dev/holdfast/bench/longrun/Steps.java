package dev.holdfast.bench.longrun;

import dev.holdfast.bench.run.Schedule;
import dev.holdfast.testbed.ServerClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The time of a long run passes in steps. A clock that ran a thousand times as fast would make every answer of a server take
 * a thousand times as long; between steps all clocks run as they are, so that each answer is as fast as ever.
 *
 * <pre>
 *   time passes │ timers are due │ work │ answers │ time passes │ timers are due │ work │ …
 *      10 min           5 ms        any      5 ms       10 min           5 ms
 * </pre>
 *
 * <p>What is kept is looked at after the first fiftieth of the steps, in the middle and at the end; each time the work has
 * rested for two hours, in steps as well.
 */
final class Steps {
    /**
     * Until threads have seen that their time has come, and answers that nobody awaits are there: a request that a step
     * overtakes seems to go unanswered for all of it.
     */
    private static final Duration SETTLE = Duration.ofMillis(5);

    private static final Duration REST = Duration.ofHours(2);
    private static final int WARM_UP = 50;
    private static final int REPORTS = 5;
    private static final double NANOS_PER_SECOND = 1e9;

    private final ServerClock clock;
    private final Supplier<Map<String, Double>> kept;
    private final Duration step;
    private final int count;
    private final long began = System.nanoTime();
    private Duration passed = Duration.ZERO;

    /** What is done after a step. */
    interface Work {
        void run() throws Exception;
    }

    /** Such steps of a clock, by which this JVM and the server go. */
    Steps(ServerClock clock, Supplier<Map<String, Double>> kept, Duration step, int count) {
        this.clock = clock;
        this.kept = kept;
        this.step = step;
        this.count = count;
    }

    int count() {
        return count;
    }

    /** How long it has taken so far, by the clock of the machine. */
    double seconds() {
        return (System.nanoTime() - began - passed.toNanos()) / NANOS_PER_SECOND;
    }

    /**
     * Takes all steps.
     *
     * @param work is done after each
     * @param rest is done after a step in which the work rests
     */
    Map<String, Trend> run(Work work, Work rest) throws Exception {
        List<Map<String, Double>> looks = new ArrayList<>();
        int reported = Math.max(1, count / REPORTS);
        int warm = Math.max(1, count / WARM_UP);
        for (int i = 1; i <= count; i++) {
            pass(work);
            if (i == warm || i == Math.max(2, count / 2) || i == count) {
                for (Duration rested = Duration.ZERO; rested.compareTo(REST) < 0; rested = rested.plus(step)) {
                    pass(rest);
                }
                looks.add(kept.get());
            }
            if (i % reported == 0) {
                System.out.printf("    %d of %d steps, %.0f s%n", i, count, seconds());
            }
        }
        Map<String, Trend> trends = new LinkedHashMap<>();
        looks.get(0)
                .forEach((what, start) -> trends.put(
                        what,
                        new Trend(
                                start,
                                looks.get(1).getOrDefault(what, 0.0),
                                looks.get(2).getOrDefault(what, 0.0))));
        return trends;
    }

    private void pass(Work work) throws Exception {
        clock.pass(step);
        passed = passed.plus(step);
        Schedule.pause(SETTLE);
        work.run();
        Schedule.pause(SETTLE);
    }
}
