package dev.holdfast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ErrorPlays;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
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
 * it comes where a step begins, or in the middle of a step, where an effect is made. Whatever it was, every wait ends, no two have
 * one token, nothing stays held, and the client remembers no lock. Each third of these is tried every day: which third, differs
 * from play to play. Of other Errors than those of memory, a third is tried with {@code ./verify --all}.
 */
@Tag("same-on-each-jdk")
class ErrorAtEachEffectTest {
    private static final String EFFECTS = "internal/Effects";
    private static final String FAULT = """
    static volatile java.util.function.Consumer<Object> fault = effect -> {};

    static boolean isMade() {
        fault.accept("WHERE_AN_EFFECT_IS_MADE");
        return true;
    }
""";
    private static final String FIELD = "    private int next;\n";
    private static final String RUN = "                effect.run();\n";
    private static final String TELL = "                effect.hasThrown(broken);\n";
    private static final String BEGIN = "    Effects(LocalLock lock) {\n";
    private static final int EVERY_THIRD = 3;

    /** Where effects are made. */
    private static final List<String> STEPS = Stream.of(
                    "LocalLock",
                    "WaitQueue",
                    "ExclusiveQueue",
                    "Retention",
                    "SharedQueue",
                    "SharedGrant",
                    "ReleaseSender")
            .map("internal/"::concat)
            .toList();

    /** What is made for a step and for what is counted in it, up to its end. */
    private static final Pattern MADE =
            Pattern.compile("(?<=then\\.add\\(|quietly\\(|, | = )(?=\\(\\) ->|new (Effects\\.|Watch|Ask|"
                    + "PlannedCheck|CallOffFirst|InTurn|ClaimInFlight|HoldState|ConcurrentHashMap)\\b)");

    /** Where an Error comes. */
    enum Place implements Predicate<Object> {
        WHERE_AN_EFFECT_RUNS,
        WHERE_A_STEP_BEGINS,
        WHERE_AN_EFFECT_IS_MADE;

        @Override
        public boolean test(Object reached) {
            return reached instanceof String place ? place.equals(name()) : this == WHERE_AN_EFFECT_RUNS;
        }
    }

    private static ClassLoader engine;

    /** Reports each place it comes to. */
    @BeforeAll
    static void engineThatFails() throws IOException {
        Map<String, String> sources = new HashMap<>();
        String effects = changed(Sabotage.source(EFFECTS), FIELD, FIELD + FAULT);
        effects = changed(effects, RUN, "fault.accept(effect);\n" + RUN + "fault.accept(effect);\n");
        effects = changed(effects, TELL, "fault.accept(effect);\n" + TELL); // reached where it has thrown before
        sources.put(EFFECTS, changed(effects, BEGIN, BEGIN + "fault.accept(\"WHERE_A_STEP_BEGINS\");\n"));
        for (String step : STEPS) {
            Matcher made = MADE.matcher(Sabotage.source(step));
            assertThat(made.find()).as(step).isTrue();
            sources.put(step, made.replaceAll("!Effects.isMade() ? null : "));
        }
        engine = Sabotage.engineWith(sources);
    }

    private static String changed(String source, String sound, String broken) {
        assertThat(source).containsOnlyOnce(sound);
        return source.replace(sound, broken);
    }

    static Stream<Arguments> plays() {
        return Stream.of(Place.values()).flatMap(place -> ErrorPlays.names().map(play -> Arguments.of(place, play)));
    }

    @ParameterizedTest
    @MethodSource("plays")
    void everyWaitEndsAndNothingStaysHeld(Place place, String play) throws ReflectiveOperationException {
        assertThat(wrong(place, play, OutOfMemoryError.class, 1, EVERY_THIRD)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("plays")
    void thatIsSoThoughAnotherErrorComesNext(Place place, String play) throws ReflectiveOperationException {
        assertThat(wrong(place, play, OutOfMemoryError.class, 2, EVERY_THIRD)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("plays")
    @Tag("thorough")
    void thatIsSoWhereverItComes(Place place, String play) throws ReflectiveOperationException {
        assertThat(wrong(place, play, OutOfMemoryError.class, 1, 1)).isEmpty();
        assertThat(wrong(place, play, OutOfMemoryError.class, 2, 1)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("plays")
    @Tag("thorough")
    void thatIsSoForOtherErrorsToo(Place place, String play) throws ReflectiveOperationException {
        assertThat(wrong(place, play, StackOverflowError.class, 1, EVERY_THIRD)).isEmpty();
        assertThat(wrong(place, play, AssertionError.class, 1, EVERY_THIRD)).isEmpty();
    }

    private static List<String> wrong(Place place, String play, Class<? extends Error> error, int inARow, int step)
            throws ReflectiveOperationException {
        List<String> wrong = new ArrayList<>();
        String said = "";
        for (int at = Math.floorMod(play.hashCode() + inARow, step); !said.equals(ErrorPlays.NOT_REACHED); at += step) {
            said = (String) engine.loadClass(ErrorPlays.class.getName())
                    .getMethod("play", String.class, Predicate.class, int.class, int.class, Class.class)
                    .invoke(null, play, place, at, inARow, error);
            if (!said.isEmpty() && !said.equals(ErrorPlays.NOT_REACHED)) {
                wrong.add(said);
            }
        }
        return wrong;
    }
}
