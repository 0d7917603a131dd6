package dev.holdfast.recipes;

/**
 * A part of a stock.
 *
 * @param number its number, from 0
 * @param left the number of pieces left, never negative
 * @param token the token of the hold under which this was written; 0 if it was never written under a lock
 */
public record Segment(int number, long left, long token) {
    /** A segment. */
    public Segment {
        if (left < 0) {
            throw new IllegalStateException("segment " + number + " has " + left + " pieces: another program changed it"
                    + " without its lock; set it to 0 or more");
        }
    }
}
