package dev.holdfast.bench.run;

/** Whether a target is met. */
public enum Verdict {
    /** Every round says so. */
    MET("yes"),
    /** No round says so. */
    MISSED("MISSED"),
    /** The rounds do not agree: their spread crosses the target, or there is one round alone. */
    UNDECIDED("undecided");

    private final String word;

    Verdict(String word) {
        this.word = word;
    }

    /** As the table of targets says it. */
    public String word() {
        return word;
    }

    /** For a figure without a spread. */
    public static Verdict of(boolean met) {
        return met ? MET : MISSED;
    }
}
