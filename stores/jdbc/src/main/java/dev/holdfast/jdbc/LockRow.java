package dev.holdfast.jdbc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The whole state of one lock, as one row keeps it.
 *
 * @param version counts every change of the row; the number of a grant is the version by which it was given
 * @param exclusive who holds it alone, or held it last and ran out; null when it was released
 * @param sharing who hold it together: readers, or owners of permits
 * @param waiting who wait, in the order of their arrival
 * @param now the database's clock when the row was read, microseconds since 1970
 */
record LockRow(long version, @Nullable Holding exclusive, List<Holding> sharing, List<WaitingClaim> waiting, long now) {
    LockRow {
        sharing = List.copyOf(sharing);
        waiting = List.copyOf(waiting);
    }

    /** Nobody has it, nobody wants it. */
    static LockRow free(long version, long now) {
        return new LockRow(version, null, List.of(), List.of(), now);
    }
}
