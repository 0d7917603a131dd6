package dev.holdfast.recipes;

import java.util.List;

/**
 * Where the segments of a {@link SplitStock} are kept: rows of a table, fields of a hash. Implementations must be
 * thread-safe.
 */
public interface Segments {
    /** All segments, in the order of their numbers, as they are now; need not be a snapshot. */
    List<Segment> read();

    /**
     * Writes some segments, all or none of them: one transaction, one script.
     *
     * @param changed their new contents, each with the token of the hold under which it is written
     * @throws dev.holdfast.StaleTokenException if one of them was written with a higher token before; nothing was written
     */
    void write(List<Segment> changed);
}
