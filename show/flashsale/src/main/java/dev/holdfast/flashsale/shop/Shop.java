package dev.holdfast.flashsale.shop;

import dev.holdfast.StaleTokenException;
import dev.holdfast.jdbc.JdbcFence;
import dev.holdfast.recipes.Segment;
import dev.holdfast.recipes.Segments;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The tables of the sale. An order and the stock that it leaves are written in one transaction, so a server that is
 * killed loses neither; what keeps two orders apart is not decided here. Thread-safe.
 */
public final class Shop {
    /** The number of segments of a split stock. */
    public static final int SEGMENTS = 8;

    private static final int SHOWN = 5;
    private final JdbcTemplate template;
    private final JdbcClient sql;
    private final Tables tables;
    private final Traces traces;
    private final TransactionTemplate transaction;
    private final JdbcFence fence = JdbcFence.inTable("flashsale_fence");
    private final String forUpdate;

    /** The shop in a database, whose tables {@link #createTables} makes. */
    public Shop(DataSource database) {
        template = new JdbcTemplate(database);
        sql = JdbcClient.create(template);
        tables = new Tables(template);
        traces = new Traces(sql);
        transaction = new TransactionTemplate(new JdbcTransactionManager(database));
        // SQLite has no row locks: there, a transaction that writes is alone from its beginning (transaction_mode)
        forUpdate = Boolean.TRUE.equals(template.execute((ConnectionCallback<Boolean>) Shop::isSqlite))
                ? ""
                : " FOR UPDATE";
    }

    private static boolean isSqlite(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName().equalsIgnoreCase("sqlite");
    }

    /**
     * Creates the tables, and that of the fence. For one thread at a time, as {@link #dropTables}.
     *
     * @throws IllegalStateException if one of them is there already; nothing of it was changed
     */
    public void createTables() {
        tables.create(fence);
    }

    /**
     * Drops the tables that {@link #createTables} has created, and no others.
     *
     * @throws IllegalStateException if some remain; it names them
     */
    public void dropTables() {
        tables.drop();
    }

    /** Opens a sale with its whole stock and no orders; one of that id ends. The fence keeps its token. */
    public void open(String id, String guard, int stock, int gapMillis) {
        transaction.executeWithoutResult(status -> tables.open(id, guard, stock, gapMillis));
    }

    /** A sale, or nothing. */
    public Optional<Sale> find(String id) {
        return sql.sql(
                        "SELECT id, guard, stock, gap_millis, opening, remaining, version FROM flashsale_sale WHERE id = ?")
                .param(id)
                .query((row, number) -> new Sale(
                        row.getString(1),
                        row.getString(2),
                        row.getInt(3),
                        row.getInt(4),
                        row.getLong(5),
                        row.getLong(6),
                        row.getLong(7)))
                .optional();
    }

    /** An order that was written, or nothing. */
    public Optional<Order> order(String sale, String key) {
        return sql.sql("SELECT sale, order_key, quantity, node FROM flashsale_order WHERE sale = ? AND order_key = ?")
                .params(sale, key)
                .query((row, number) -> new Order(row.getString(1), row.getString(2), row.getInt(3), row.getString(4)))
                .optional();
    }

    /** Counts a sale from its orders. */
    public Tally tally(Sale sale) {
        Map<String, Long> soldBy = new LinkedHashMap<>();
        long[] orders = {0};
        sql.sql("SELECT node, COUNT(*), SUM(quantity) FROM flashsale_order WHERE sale = ? GROUP BY node ORDER BY node")
                .param(sale.id())
                .query(row -> {
                    orders[0] += row.getLong(2);
                    soldBy.put(row.getString(1), row.getLong(3));
                });
        List<Traces.Late> refused = traces.late(sale.id());
        List<Tally.Collision> collisions = sql.sql(
                        "SELECT seen, COUNT(*), COUNT(DISTINCT node) FROM flashsale_order WHERE sale = ? AND seen IS NOT NULL"
                                + " GROUP BY seen HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC, seen DESC")
                .param(sale.id())
                .query((row, number) -> new Tally.Collision(row.getLong(1), row.getLong(2), row.getInt(3)))
                .list();
        long sold = soldBy.values().stream().mapToLong(Long::longValue).sum();
        return new Tally(
                orders[0],
                sold,
                Math.max(0, sold - sale.stock()),
                soldBy,
                collisions.stream().limit(SHOWN).toList(),
                refused.stream().limit(SHOWN).map(Tally.LateWrite::of).toList(),
                refused.size());
    }

    /**
     * Keeps what the fence said to an order.
     *
     * @param since when the order began to read, by the clock of this machine
     */
    public void noteRefusal(Order order, StaleTokenException late, long since) {
        inTransaction(
                () -> sql.sql("INSERT INTO flashsale_refusal (sale, number, node, token, admitted, read_at, refused_at)"
                                + " SELECT ?, COUNT(*), ?, ?, ?, ?, ? FROM flashsale_refusal WHERE sale = ?")
                        .params(
                                order.sale(),
                                order.node(),
                                late.token(),
                                late.admitted(),
                                since,
                                System.currentTimeMillis(),
                                order.sale())
                        .update());
    }

    /** How single orders went. */
    public Traces traces() {
        return traces;
    }

    /** Runs statements as one transaction. */
    public <T> T inTransaction(Supplier<T> statements) {
        T result = transaction.execute((TransactionStatus status) -> statements.get());
        if (result == null) {
            throw new IllegalStateException("a transaction without a result");
        }
        return result;
    }

    /** The stock that is left. */
    public long remaining(String sale) {
        return remaining(sale, "");
    }

    /** The same, and nobody else reads it so, or writes it, until the transaction ends. */
    public long remainingForUpdate(String sale) {
        return remaining(sale, forUpdate);
    }

    private long remaining(String sale, String suffix) {
        return sql.sql("SELECT remaining FROM flashsale_sale WHERE id = ?" + suffix)
                .param(sale)
                .query(Long.class)
                .single();
    }

    /**
     * Refuses a token that is lower than one seen before; inside the caller's transaction.
     *
     * @throws dev.holdfast.StaleTokenException if it is
     */
    public void checkFence(String sale, long token) {
        template.execute((ConnectionCallback<Boolean>) connection -> {
            fence.check(connection, "sale:" + sale, token);
            return true;
        });
    }

    /** Writes an order and the stock that it leaves, whatever is written there now. */
    public void write(Order order, Reading read) {
        insert(order, read);
        sql.sql("UPDATE flashsale_sale SET remaining = ?, version = version + 1 WHERE id = ?")
                .params(read.left() - order.quantity(), order.sale())
                .update();
    }

    /** The same if the sale still has the version; else false. */
    public boolean writeIfUnchanged(Order order, Reading read, long version) {
        return Boolean.TRUE.equals(transaction.execute(status -> {
            boolean unchanged = sql.sql(
                                    "UPDATE flashsale_sale SET remaining = ?, version = version + 1 WHERE id = ? AND version = ?")
                            .params(read.left() - order.quantity(), order.sale(), version)
                            .update()
                    == 1;
            if (unchanged) {
                insert(order, read);
            }
            return unchanged;
        }));
    }

    private void insert(Order order, @Nullable Reading read) {
        sql.sql("INSERT INTO flashsale_order (sale, order_key, quantity, node, seen, read_at, written_at)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?)")
                .params(Arrays.asList(
                        order.sale(),
                        order.key(),
                        order.quantity(),
                        order.node(),
                        read == null ? null : read.left(),
                        read == null ? null : read.at(),
                        System.currentTimeMillis()))
                .update();
    }

    /** The split stock of a sale, for one order: it is written in the transaction that takes its tickets. */
    public Segments segments(Order order, Runnable beforeWriting) {
        return new Segments() {
            @Override
            public List<Segment> read() {
                return segmentsOf(order.sale());
            }

            @Override
            public boolean write(List<Change> changes) {
                beforeWriting.run();
                return Boolean.TRUE.equals(transaction.execute(status -> {
                    boolean unchanged = changes.stream().allMatch(change -> changeSegment(order.sale(), change));
                    if (unchanged) {
                        insert(order, null);
                    } else {
                        status.setRollbackOnly();
                    }
                    return unchanged;
                }));
            }
        };
    }

    private List<Segment> segmentsOf(String sale) {
        return sql.sql("SELECT segment, pieces, token FROM flashsale_segment WHERE sale = ? ORDER BY segment")
                .param(sale)
                .query((row, number) -> new Segment(row.getInt(1), row.getLong(2), row.getLong(3)))
                .list();
    }

    private boolean changeSegment(String sale, Segments.Change change) {
        return sql.sql("UPDATE flashsale_segment SET pieces = ?, token = ?"
                                + " WHERE sale = ? AND segment = ? AND pieces = ? AND token = ?")
                        .params(
                                change.changed().left(),
                                change.changed().token(),
                                sale,
                                change.read().number(),
                                change.read().left(),
                                change.read().token())
                        .update()
                == 1;
    }

    /** The tickets left in the segments of a split stock. */
    public long remainingInSegments(String sale) {
        return segmentsOf(sale).stream().mapToLong(Segment::left).sum();
    }
}
