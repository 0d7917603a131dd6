package dev.holdfast.recipes;

import java.util.List;

/**
 * The storage of the segments of a {@link SplitStock}: rows of a table, fields of a hash. The segments exist before the
 * first use, one for each number from 0. Implementations must be thread-safe.
 */
public interface Segments {
    /**
     * All segments, in the order of their numbers. Must show every completed write: no replica, no old snapshot. Need not
     * be one snapshot of all.
     */
    List<Segment> read();

    /**
     * Writes some segments, all or none of them, if none has changed since it was read: in one transaction, or one script.
     *
     * @return false if a segment no longer has the pieces and the token that were read; then nothing was written
     */
    boolean write(List<Change> changes);

    /**
     * A change of one segment.
     *
     * @param read the segment as it was read
     * @param changed the segment as it becomes, with another token
     */
    record Change(Segment read, Segment changed) {}
}
