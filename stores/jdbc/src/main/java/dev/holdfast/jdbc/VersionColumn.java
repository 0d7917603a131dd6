package dev.holdfast.jdbc;

import dev.holdfast.StoreRefusedException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The column that shows that a row was changed.
 *
 * @param name of the column
 * @param timestamp whether it is a time; it is compared as the database writes it, so that no driver's conversion and no
 *     time zone can change it on the way
 */
record VersionColumn(String name, boolean timestamp) {
    private static final int MICROS_DIGITS = 6;
    private static final Pattern FRACTION = Pattern.compile("\\.(\\d+)");

    /**
     * What stood there.
     *
     * @param value a number, or the text of a time
     * @param stepMicros by how much a time must become later to be another
     */
    record Seen(Object value, long stepMicros) {}

    /** The last expression of a query, where the table is called {@code t}: what is before it stays in its place. */
    String read(Connection connection) throws SQLException {
        return (timestamp ? ServerDialects.of(connection).textOf("t." + name) : "t." + name) + " AS holdfast_version";
    }

    /** The same in the condition of an UPDATE. */
    String compared(Connection connection) throws SQLException {
        return timestamp ? ServerDialects.of(connection).textOf(name) : name;
    }

    Seen seen(ResultSet row, String table, String where) throws SQLException {
        int last = row.getMetaData().getColumnCount();
        Object value = timestamp ? row.getString(last) : (Object) row.getLong(last);
        if (value == null || row.wasNull()) {
            throw new StoreRefusedException("cannot update " + table + " by its column '" + name
                    + "': it is NULL where " + where + "; make it NOT NULL, for example: " + definition());
        }
        return new Seen(value, timestamp ? step(row.getMetaData(), value.toString()) : 0);
    }

    /** MySQL's driver says 0 digits of every time; but there the text has all digits of the column. */
    private long step(ResultSetMetaData columns, String text) throws SQLException {
        int digits = MICROS_DIGITS;
        for (int i = 1; i < columns.getColumnCount(); i++) {
            if (columns.getColumnName(i).equalsIgnoreCase(name)) {
                digits = Math.max(0, Math.min(MICROS_DIGITS, columns.getScale(i)));
            }
        }
        Matcher fraction = FRACTION.matcher(text);
        if (digits == 0 && fraction.find()) {
            digits = Math.min(MICROS_DIGITS, fraction.group(1).length());
        }
        return Math.round(Math.pow(10, MICROS_DIGITS - digits));
    }

    /** The assignment that makes it another. */
    String raised(Connection connection, Seen seen) throws SQLException {
        return name + " = "
                + (timestamp ? ServerDialects.of(connection).laterThan(name, seen.stepMicros()) : name + " + 1");
    }

    String definition() {
        return name
                + (timestamp ? " TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)" : " BIGINT NOT NULL DEFAULT 0");
    }
}
