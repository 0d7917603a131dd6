package dev.holdfast.challenge.report;

import dev.holdfast.challenge.lock.LockKind.Role;
import java.io.PrintStream;
import java.util.List;

/** The table in the terminal. */
public final class Terminal {
    private Terminal() {}

    /** Prints what was seen; where the run is worth nothing, it says why, and prints no table. */
    public static void print(Results results, PrintStream out) {
        results.settings().forEach((store, text) -> out.println(store + ": " + text));
        List<String> invalid = results.invalid();
        if (!invalid.isEmpty()) {
            out.println("INVALID: nothing can be concluded from this run");
            invalid.forEach(why -> out.println("  " + why));
            results.notTested().forEach(line -> out.println("  " + line));
            return;
        }
        table(results, out);
        long wrong = results.controls().stream()
                .filter(row -> row.lock().role() == Role.WRONG)
                .count();
        out.println("controls: " + wrong + " wrong locks caught, no alarm in the right one");
    }

    /** Prints what was seen until the run was interrupted. */
    public static void printSoFar(Results results, PrintStream out) {
        table(results, out);
        out.println("INTERRUPTED: what was seen until then; not every control was run");
    }

    private static void table(Results results, PrintStream out) {
        int width = results.rows().stream()
                .mapToInt(row -> row.cell().toString().length())
                .max()
                .orElse(0);
        results.rows()
                .forEach(row -> out.println(pad(row.cell().toString(), width) + "  " + row.sentence()
                        + (row.file().isEmpty() ? "" : " " + row.file())));
        results.notTested().forEach(out::println);
    }

    private static String pad(String text, int width) {
        return text + " ".repeat(width - text.length());
    }
}
