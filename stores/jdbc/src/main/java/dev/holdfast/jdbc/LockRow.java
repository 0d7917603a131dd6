package dev.holdfast.jdbc;

import dev.holdfast.spi.Mode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The whole state of one lock, as one row keeps it.
 *
 * @param version counts every change of the row; the number of a grant is the version by which it was given
 * @param exclusive the exclusive holder, or the last one, whose lease ran out; null when it was released
 * @param sharing its shared holders: readers, or holders of permits
 * @param waiting the waiters, in the order of their arrival
 * @param now the database's clock when the row was read, microseconds since 1970
 */
record LockRow(
        long version, @Nullable HolderEntry exclusive, List<HolderEntry> sharing, List<WaiterEntry> waiting, long now) {
    LockRow {
        sharing = List.copyOf(sharing);
        waiting = List.copyOf(waiting);
    }

    /** Nobody has it, nobody wants it. */
    static LockRow free(long version, long now) {
        return new LockRow(version, null, List.of(), List.of(), now);
    }

    /** Whether a claim fits beside the holders; a holder without permits counts as all that the claim counts. */
    static boolean fits(Mode wanted, @Nullable HolderEntry exclusive, List<HolderEntry> sharing) {
        if (exclusive != null) {
            return false;
        }
        if (wanted instanceof Mode.Permits some) {
            long out = some.permits();
            for (HolderEntry each : sharing) {
                out += each.mode() instanceof Mode.Permits taken ? taken.permits() : some.of();
            }
            return out <= some.of();
        }
        return sharing.isEmpty()
                || (wanted instanceof Mode.Shared
                        && sharing.stream().allMatch(each -> each.mode() instanceof Mode.Shared));
    }
}
