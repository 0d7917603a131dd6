package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A simulation that finds nothing proves nothing, unless it finds what is there to be found. Looks from the first seed on;
 * with {@code -Dholdfast.sim.known=true} first at the seed that showed the defect last.
 */
class SimulationBitesTest {
    private static final long FIRST_SEED = 1;
    private static final boolean KNOWN_FIRST = Boolean.getBoolean("holdfast.sim.known");

    @ParameterizedTest
    @EnumSource(Defect.class)
    void aDefectIsFound(Defect defect) throws Exception {
        String found = KNOWN_FIRST ? Sabotage.search(defect, defect.seen, 1) : "";
        if (found.isEmpty()) {
            found = Sabotage.search(defect, FIRST_SEED, defect.schedules);
        }
        System.out.println(defect + ": " + found);
        assertThat(found)
                .as("what the simulation says of " + defect + " within " + defect.schedules + " schedules")
                .isNotEmpty();
    }

    @Test
    void aDefectThatNoLongerFitsTheSourceSaysSo() {
        assertThatThrownBy(() -> Defect.WAITER_LOST_ON_CANCEL.in("class ExclusiveQueue {}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("occurs no more")
                .hasMessageContaining("Defect.java");
    }
}
