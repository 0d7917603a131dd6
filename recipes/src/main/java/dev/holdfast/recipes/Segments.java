package dev.holdfast.recipes;

import java.util.List;

/**
 * The storage of the segments of a {@link SplitStock}: rows of a table, fields of a hash. The segments exist before the first
 * use, one for each number from 0. Implementations must be thread-safe.
 */
public interface Segments {
    /** All segments, in the order of their numbers. Must show every completed write: no replica, no old snapshot. Need not be one
     * snapshot of all. */
    List<Segment> read();

    /**
     * Writes some segments, all or none of them: one transaction, one script.
     *
     * @param changed the new segments, each with the token of the hold under which it is written
     * @throws dev.holdfast.StaleTokenException if one of them was written with a higher token before; nothing was written
     */
    void write(List<Segment> changed);
}
