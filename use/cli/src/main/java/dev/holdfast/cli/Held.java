package dev.holdfast.cli;

import dev.holdfast.Hold;
import dev.holdfast.MultiHold;
import dev.holdfast.OnceTurn;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a command runs under: a hold, or several that count as one. */
interface Held {
    /** The variable by which every descendant of the command can be recognised. */
    String ID_VARIABLE = "HOLDFAST_HOLD_ID";

    /** The ids of the holds around this one, where a command under a lock runs {@code holdfast} again. */
    String OUTER_IDS_VARIABLE = "HOLDFAST_OUTER_HOLD_IDS";

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

    /** Work that is run once: its end is recorded before its lock is released, both by the one that runs it. */
    static Held once(OnceTurn turn) {
        return new Held() {
            @Override
            public Map<String, String> environment() {
                return variables(turn.name(), Long.toString(turn.token()), turn.holdId());
            }

            @Override
            public boolean isValid() {
                return turn.isValid();
            }

            @Override
            public void onLost(Runnable action) {
                turn.onLost(loss -> action.run());
            }

            @Override
            public void close() {
                // by the library
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
        Map<String, String> variables = new HashMap<>();
        variables.put("HOLDFAST_NAME", name);
        variables.put("HOLDFAST_TOKEN", token);
        variables.put(ID_VARIABLE, id);
        String outer = Stream.of(OUTER_IDS_VARIABLE, ID_VARIABLE)
                .map(System.getenv()::get)
                .filter(ids -> ids != null && !ids.isEmpty())
                .collect(Collectors.joining("\n"));
        if (!outer.isEmpty()) {
            variables.put(OUTER_IDS_VARIABLE, outer);
        }
        return variables;
    }
}
