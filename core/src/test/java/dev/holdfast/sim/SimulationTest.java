package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The engine holds its guarantees in every schedule of a run, and a run of 4,000 or more has met everything there is to
 * meet. With {@code -Dholdfast.sim.schedules=1000000} it plays as many, and with {@code -Dholdfast.sim.seed=42} it begins at
 * that seed; a single schedule is printed line by line. {@link TimelinesTest} plays 10,000 in {@code ./verify --all}.
 */
@Tag("same-on-each-jdk")
class SimulationTest {
    private static final long FIRST_SEED = Long.getLong("holdfast.sim.seed", 1);
    private static final long SCHEDULES = Long.getLong("holdfast.sim.schedules", 2_000);
    private static final long ENOUGH_TO_SEE_EVERYTHING = 4_000;

    @Test
    @Timeout(24 * 60 * 60)
    void noScheduleBreaksARule() {
        Simulation simulation = new Simulation();
        Schedule.Outcome breach = simulation.firstBreach(FIRST_SEED, SCHEDULES);
        if (SCHEDULES == 1) {
            System.out.print(Simulation.replay(FIRST_SEED));
        } else {
            System.out.print(simulation.report());
        }
        assertThat(breach).withFailMessage(() -> Simulation.explain(breach)).isNull();
        if (SCHEDULES >= ENOUGH_TO_SEE_EVERYTHING) {
            assertThat(simulation.counts().never())
                    .as("what never happened in " + SCHEDULES + " schedules")
                    .isEmpty();
        }
    }

    @Test
    void oneSeedIsOneSchedule() {
        for (long seed = 1; seed <= 30; seed++) {
            String timeline = Simulation.replay(seed);
            assertThat(timeline).startsWith("             0 µs  world    seed " + seed + ",");
            assertThat(Simulation.replay(seed)).isEqualTo(timeline);
        }
    }
}
