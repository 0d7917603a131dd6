package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ErrorPlays;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An Error may end anything. Here it ends each effect of a play in turn, before it has done anything and after it has done all; or
 * it comes where a step begins, or in the middle of a step, where an effect is made. Whatever it was, every wait ends, nothing
 * stays held, and the client remembers no lock.
 */
@Tag("same-on-each-jdk")
class ErrorAtEachEffectTest {
    private static final String EFFECTS = "internal/Effects";
    private static final String FAULT = """
    static volatile java.util.function.Consumer<Object> fault = effect -> {};

    static boolean isMade() {
        fault.accept("an effect that is made");
        return true;
    }
""";
    private static final String FIELD = "    private int next;\n";
    private static final String RUN = "                effect.run();\n";
    private static final String TELL = "                effect.hasThrown(broken);\n";
    private static final String BEGIN = "    Effects(ReentrantLock mutex, EventDispatcher dispatcher) {\n";

    /** Where effects are made. */
    private static final List<String> STEPS = Stream.of(
                    "LocalLock", "WaitQueue", "ExclusiveQueue", "Retention", "SharedQueue", "SharedGrant")
            .map("internal/"::concat)
            .toList();

    /** What is made for a step, up to its end. */
    private static final Pattern MADE =
            Pattern.compile("(?<=then\\.add\\(| = )(?=\\(\\) ->|new (Effects\\.|Watch|WatchLater|Ask|"
                    + "PlannedCheck|CallOffFirst|InTurn|ClaimInFlight)\\b)");

    /** Where an Error comes. */
    enum Place {
        WHERE_AN_EFFECT_RUNS,
        WHERE_A_STEP_BEGINS,
        WHERE_AN_EFFECT_IS_MADE;

        ClassLoader engine() throws IOException {
            Map<String, String> sources = new HashMap<>();
            String effects = changed(Sabotage.source(EFFECTS), FIELD, FIELD + FAULT);
            switch (this) {
                case WHERE_AN_EFFECT_RUNS ->
                    effects = changed(
                            changed(effects, RUN, "fault.accept(effect);\n" + RUN + "fault.accept(effect);\n"),
                            TELL,
                            "fault.accept(effect);\n" + TELL); // reached where it has thrown before
                case WHERE_A_STEP_BEGINS -> effects = changed(effects, BEGIN, BEGIN + "fault.accept(\"a step\");\n");
                case WHERE_AN_EFFECT_IS_MADE -> {
                    for (String step : STEPS) {
                        Matcher made = MADE.matcher(Sabotage.source(step));
                        assertThat(made.find()).as(step).isTrue();
                        sources.put(step, made.replaceAll("!Effects.isMade() ? null : "));
                    }
                }
            }
            sources.put(EFFECTS, effects);
            return Sabotage.engineWith(sources);
        }

        private static String changed(String source, String sound, String broken) {
            assertThat(source).containsOnlyOnce(sound);
            return source.replace(sound, broken);
        }
    }

    private static final Map<Place, ClassLoader> ENGINES = new EnumMap<>(Place.class);

    @BeforeAll
    static void enginesThatFail() throws IOException {
        for (Place place : Place.values()) {
            ENGINES.put(place, place.engine());
        }
    }

    static Stream<Arguments> plays() {
        return Stream.of(Place.values()).flatMap(place -> ErrorPlays.names().map(play -> Arguments.of(place, play)));
    }

    @ParameterizedTest
    @MethodSource("plays")
    void everyWaitEndsAndNothingStaysHeld(Place place, String play) throws ReflectiveOperationException {
        goesOn(place, play, List.of(OutOfMemoryError.class), 1);
    }

    @ParameterizedTest
    @MethodSource("plays")
    void thatIsSoThoughAnotherErrorComesNext(Place place, String play) throws ReflectiveOperationException {
        goesOn(place, play, List.of(OutOfMemoryError.class), 2);
    }

    @ParameterizedTest
    @MethodSource("plays")
    @Tag("thorough")
    void thatIsSoForOtherErrorsToo(Place place, String play) throws ReflectiveOperationException {
        goesOn(place, play, List.of(StackOverflowError.class, AssertionError.class), 1);
    }

    private static void goesOn(Place place, String play, List<Class<? extends Error>> errors, int inARow)
            throws ReflectiveOperationException {
        List<String> wrong = new ArrayList<>();
        for (Class<? extends Error> error : errors) {
            String said = "";
            for (int at = 0; !said.equals(ErrorPlays.NOT_REACHED); at++) {
                said = (String) ENGINES.get(place)
                        .loadClass(ErrorPlays.class.getName())
                        .getMethod("play", String.class, int.class, int.class, Class.class)
                        .invoke(null, play, at, inARow, error);
                if (!said.isEmpty() && !said.equals(ErrorPlays.NOT_REACHED)) {
                    wrong.add(said);
                }
            }
        }
        assertThat(wrong).isEmpty();
    }
}
