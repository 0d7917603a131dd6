package dev.holdfast.challenge.report;

/** What is said of a cell. */
public enum Verdict {
    /** It was attacked, and nothing was found. */
    HELD,
    /** Something was found that it promises not to happen. */
    BROKEN,
    /** Something was found that its documentation does not exclude. */
    NOT_PROMISED,
    /** The fault was not made, or did not bite. */
    NOT_TESTED;

    String title() {
        return name().replace('_', ' ');
    }
}
