package dev.holdfast.jdbc;

import dev.holdfast.Holder;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.Mode;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A row as it was read.
 *
 * @param layout of this row
 * @param state what it says, when it was read
 */
record RowSnapshot(long layout, LockRow state) {
    /** The same row, so much later by the database's clock. */
    RowSnapshot later(long micros) {
        LockRow then = state;
        return new RowSnapshot(
                layout,
                new LockRow(then.version(), then.exclusive(), then.sharing(), then.waiting(), then.now() + micros));
    }

    /** Reads {@link RowSql#COLUMNS} and the clock, from a column on. */
    static RowSnapshot read(ResultSet row, int first) throws SQLException {
        long layout = row.getLong(first);
        if (layout > RowSql.LAYOUT) {
            return new RowSnapshot(layout, LockRow.free(0, 0)); // what else it says is not understood here
        }
        try {
            return new RowSnapshot(
                    layout,
                    new LockRow(
                            row.getLong(first + 1),
                            exclusive(row, first),
                            RowCodec.sharing(row.getString(first + 7)),
                            RowCodec.waiting(row.getString(first + 6)),
                            row.getLong(first + 12)));
        } catch (IllegalArgumentException e) {
            throw new StoreRefusedException("a row is not as Holdfast writes it: " + e.getMessage(), e);
        }
    }

    private static @Nullable HolderEntry exclusive(ResultSet row, int first) throws SQLException {
        String id = row.getString(first + 2);
        if (id == null) {
            return null;
        }
        Holder holder = new Holder(
                row.getString(first + 8), row.getLong(first + 9), row.getString(first + 10), row.getString(first + 11));
        return new HolderEntry(
                id, Mode.EXCLUSIVE, row.getLong(first + 3), row.getLong(first + 4), row.getLong(first + 5), holder);
    }
}
