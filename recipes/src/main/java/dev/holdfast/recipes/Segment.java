package dev.holdfast.recipes;

/**
 * A part of a stock.
 *
 * @param number which one, from 0
 * @param left how many pieces it has left, never negative
 * @param token of the hold under which this was written; 0 if nobody has written it yet
 */
public record Segment(int number, long left, long token) {
    /** A segment. */
    public Segment {
        if (left < 0) {
            throw new IllegalStateException("segment " + number + " has " + left + " pieces left, less than none;"
                    + " it was changed by something else than its stock");
        }
    }
}
