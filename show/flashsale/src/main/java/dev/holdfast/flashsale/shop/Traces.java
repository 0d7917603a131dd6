package dev.holdfast.flashsale.shop;

import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * When orders have read and written, on which server: a few of them, as many as a picture can show. Orders from a split
 * stock leave no trace. Thread-safe.
 */
public final class Traces {
    private static final String ORDERS =
            "SELECT node, seen, seen - quantity, read_at, written_at FROM flashsale_order WHERE sale = ? AND read_at IS NOT NULL";
    private static final String SOME = " LIMIT 6";

    private final JdbcClient sql;

    Traces(JdbcClient sql) {
        this.sql = sql;
    }

    /**
     * The trace of an order that was written.
     *
     * @param node the server that took it
     * @param seen how many tickets were left when it read
     * @param left how many it has left
     * @param readAt milliseconds by the clock of this machine
     * @param writtenAt the same
     */
    public record Trace(String node, long seen, long left, long readAt, long writtenAt) {}

    /**
     * The trace of a write that the fence refused.
     *
     * @param token the token that came too late
     * @param admitted the higher one that was here before
     */
    public record Late(String node, long token, long admitted, long readAt, long refusedAt) {}

    /** The first ones. */
    public List<Trace> first(String sale) {
        return traces(ORDERS + " ORDER BY read_at, written_at" + SOME, sale);
    }

    /** Those that have read the same number, the first first. */
    public List<Trace> thatRead(String sale, long seen) {
        return traces(ORDERS + " AND seen = ? ORDER BY written_at, read_at" + SOME, sale, seen);
    }

    /** Those that were written while another was at work. */
    public List<Trace> writtenBetween(String sale, long from, long to) {
        return traces(ORDERS + " AND written_at BETWEEN ? AND ? ORDER BY written_at" + SOME, sale, from, to);
    }

    /** Those that were written nearest to a moment. */
    public List<Trace> around(String sale, long moment) {
        return traces(ORDERS + " ORDER BY ABS(written_at - ?)" + SOME, sale, moment);
    }

    private List<Trace> traces(String query, Object... values) {
        return sql.sql(query)
                .params(values)
                .query((row, number) ->
                        new Trace(row.getString(1), row.getLong(2), row.getLong(3), row.getLong(4), row.getLong(5)))
                .list();
    }

    /** The writes that were refused, the last first. */
    public List<Late> late(String sale) {
        return sql.sql("SELECT node, token, admitted, read_at, refused_at FROM flashsale_refusal WHERE sale = ?"
                        + " ORDER BY number DESC")
                .param(sale)
                .query((row, number) ->
                        new Late(row.getString(1), row.getLong(2), row.getLong(3), row.getLong(4), row.getLong(5)))
                .list();
    }
}
