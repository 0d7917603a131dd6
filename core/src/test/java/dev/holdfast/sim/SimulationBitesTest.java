package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A simulation that finds nothing proves nothing, unless it finds what is there to be found. Looks for each defect from the
 * first seed on; with {@code -Dholdfast.sim.known=true} for one of each third class, first at the seed that showed it last.
 */
@Tag("same-on-each-jdk")
class SimulationBitesTest {
    private static final long FIRST_SEED = 1;
    private static final boolean KNOWN_FIRST = Boolean.getBoolean("holdfast.sim.known");

    static Stream<Defect> defects() {
        Set<String> types = new HashSet<>();
        return Stream.of(Defect.values())
                .filter(defect -> !KNOWN_FIRST || (types.add(defect.type) && types.size() % 3 == 0));
    }

    @ParameterizedTest
    @MethodSource("defects")
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

    @ParameterizedTest
    @EnumSource(Defect.class)
    void aDefectFitsTheSource(Defect defect) throws Exception {
        String source = Sabotage.source(defect.type);
        assertThat(defect.in(source)).isNotEqualTo(source);
    }

    @Test
    void aDefectThatNoLongerFitsTheSourceSaysSo() {
        assertThatThrownBy(() -> Defect.WAITER_LOST_ON_CANCEL.in("class ExclusiveQueue {}"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("occurs no more")
                .hasMessageContaining("Defect.java");
    }
}
