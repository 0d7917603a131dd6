package dev.holdfast.cli;

import dev.holdfast.Hold;
import dev.holdfast.MultiHold;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What a command runs under: a hold, or several that count as one. */
interface Held {
    /** The variable by which every descendant of the command can be recognised. */
    String ID_VARIABLE = "HOLDFAST_HOLD_ID";

    /** What the command sees of it. */
    Map<String, String> environment();

    /** See {@link Hold#isValid()}. */
    boolean isValid();

    /** See {@link Hold#onLost}. */
    void onLost(Runnable action);

    /** See {@link Hold#close()}. */
    void close();

    /** One hold. */
    static Held one(Hold hold) {
        return new Held() {
            @Override
            public Map<String, String> environment() {
                return variables(hold.name(), Long.toString(hold.token()), hold.id());
            }

            @Override
            public boolean isValid() {
                return hold.isValid();
            }

            @Override
            public void onLost(Runnable action) {
                hold.onLost(loss -> action.run());
            }

            @Override
            public void close() {
                hold.close();
            }
        };
    }

    /**
     * Several locks; each variable has a line for each, as names may have blanks in them, but no line breaks.
     *
     * @param names in the order in which the command sees them
     */
    static Held several(List<String> names, MultiHold holds) {
        return new Held() {
            @Override
            public Map<String, String> environment() {
                return variables(lines(Function.identity()), lines(holds::token), lines(holds::id));
            }

            private String lines(Function<String, ?> what) {
                return names.stream().map(what).map(String::valueOf).collect(Collectors.joining("\n"));
            }

            @Override
            public boolean isValid() {
                return holds.isValid();
            }

            @Override
            public void onLost(Runnable action) {
                holds.onLost(loss -> action.run());
            }

            @Override
            public void close() {
                holds.close();
            }
        };
    }

    private static Map<String, String> variables(String name, String token, String id) {
        return Map.of("HOLDFAST_NAME", name, "HOLDFAST_TOKEN", token, ID_VARIABLE, id);
    }
}
