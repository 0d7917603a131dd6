package dev.holdfast.tck.fuzz;

import java.util.List;

/**
 * A history that broke a rule.
 *
 * @param rule which, and how
 * @param log what happened, line by line
 */
record Broken(Script script, String rule, List<String> log) {
    @Override
    public String toString() {
        return script + "\n" + rule + "\n  " + String.join("\n  ", log);
    }
}
