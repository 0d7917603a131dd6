package dev.holdfast.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;

/**
 * What databases have in common that keep names as bytes, which no collation folds and no padding makes equal.
 */
abstract class BytesDialect implements ServerDialect {
    @Override
    public Object name(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** No byte of UTF-8 is as high as 0xff. */
    @Override
    public Object behind(String prefix) {
        byte[] bytes = prefix.getBytes(StandardCharsets.UTF_8);
        byte[] behind = Arrays.copyOf(bytes, bytes.length + 1);
        behind[bytes.length] = (byte) 0xff;
        return behind;
    }

    @Override
    public String name(ResultSet row, int column) throws SQLException {
        return new String(row.getBytes(column), StandardCharsets.UTF_8);
    }

    @Override
    public boolean write(SqlSession session, RowSql sql, List<?> arguments, List<WaiterEntry> notified, boolean durable)
            throws SQLException {
        return session.update(sql.write, arguments) > 0;
    }

    @Override
    public boolean release(SqlSession session, RowSql sql, List<?> arguments) throws SQLException {
        return session.update(sql.release, arguments) > 0;
    }

    @Override
    public OfferListener offerListener(OfferListener.Listener listener, String channel, Connections connections) {
        return new OfferListener.None();
    }

    @Override
    public boolean pushes() {
        return false;
    }
}
