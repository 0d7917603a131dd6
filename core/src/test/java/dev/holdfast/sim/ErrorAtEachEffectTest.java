package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ErrorPlays;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An Error may end anything: here it ends each effect of a play in turn, before it has done anything and after it has done
 * all. Whatever it was, every wait ends, nothing stays held, and the client remembers no lock.
 */
class ErrorAtEachEffectTest {
    private static final String EFFECT = "                effect.run();\n";
    private static final String FIELD = "    private int next;\n";

    private static ClassLoader engine;

    @BeforeAll
    static void anEngineWhoseEffectsFail() throws IOException {
        String sound = Sabotage.source("internal/Effects");
        assertThat(sound).containsOnlyOnce(EFFECT).containsOnlyOnce(FIELD);
        engine = Sabotage.engineWith(
                "internal/Effects",
                sound.replace(EFFECT, "fault.accept(effect);\n" + EFFECT + "fault.accept(effect);\n")
                        .replace(
                                FIELD,
                                FIELD + "static volatile java.util.function.Consumer<Object> fault = e -> {};\n"));
    }

    static Stream<String> plays() {
        return ErrorPlays.names();
    }

    @ParameterizedTest
    @MethodSource("plays")
    void everyWaitEndsAndNothingStaysHeld(String play) throws ReflectiveOperationException {
        goesOn(play, List.of(OutOfMemoryError.class));
    }

    @ParameterizedTest
    @MethodSource("plays")
    @Tag("thorough")
    void thatIsSoForOtherErrorsToo(String play) throws ReflectiveOperationException {
        goesOn(play, List.of(StackOverflowError.class, AssertionError.class));
    }

    private static void goesOn(String play, List<Class<? extends Error>> errors) throws ReflectiveOperationException {
        List<String> wrong = new ArrayList<>();
        for (Class<? extends Error> error : errors) {
            String said = "";
            for (int at = 0; !said.equals(ErrorPlays.NOT_REACHED); at++) {
                said = (String) engine.loadClass(ErrorPlays.class.getName())
                        .getMethod("play", String.class, int.class, Class.class)
                        .invoke(null, play, at, error);
                if (!said.isEmpty() && !said.equals(ErrorPlays.NOT_REACHED)) {
                    wrong.add(said);
                }
            }
        }
        assertThat(wrong).isEmpty();
    }
}
