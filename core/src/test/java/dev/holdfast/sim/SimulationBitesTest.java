package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A simulation that finds nothing proves nothing, unless it finds what is there to be found. */
class SimulationBitesTest {
    private static final long FIRST_SEED = 1;

    @ParameterizedTest
    @EnumSource(Defect.class)
    void aDefectIsFound(Defect defect) throws Exception {
        String found = Sabotage.search(defect, FIRST_SEED);
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
